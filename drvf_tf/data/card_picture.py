"""The picture of a dataset: returns, lengths, actions, states."""
import pathlib

import numpy as np
from matplotlib import figure

from drvf_tf import figures
from drvf_tf.data import card, offline_dataset

_MAX_POINTS = 20_000
_TITLE_WIDTH = 110  # characters of the title's size in the picture's width


def save(dataset: offline_dataset.OfflineDataset, path: pathlib.Path) -> None:
  """Draws the picture into a PNG file."""
  path.parent.mkdir(parents=True, exist_ok=True)
  draw(dataset).savefig(path, dpi=120)


def draw(dataset: offline_dataset.OfflineDataset) -> figure.Figure:
  """Four panels."""
  picture = figures.new(10, 7.5)
  axes = picture.subplots(2, 2)
  axes[0, 0].hist(dataset.episode_returns(), bins=50)
  axes[0, 0].set(xlabel='return of an episode', ylabel='episodes')
  axes[0, 1].hist(dataset.episode_lengths(), bins=50)
  axes[0, 1].set(xlabel='length of an episode', ylabel='episodes')
  axes[1, 0].violinplot(dataset.actions, showextrema=False)
  axes[1, 0].set(xlabel='action', ylabel='value')
  rows = np.linspace(0, dataset.size - 1, min(dataset.size, _MAX_POINTS))
  rows = np.unique(rows.astype(int))
  points, label = _plane(dataset.observations[rows])
  dots = axes[1, 1].scatter(*points.T, c=dataset.rewards[rows], s=2)
  axes[1, 1].set(xlabel=label.format(1), ylabel=label.format(2))
  picture.colorbar(dots, ax=axes[1, 1], label='reward')
  title = f'{dataset.name}: {dataset.provenance}'
  picture.suptitle(figures.wrap(title, _TITLE_WIDTH), fontsize=10)
  return picture


def _plane(observations: np.ndarray) -> tuple[np.ndarray, str]:
  # Few dimensions speak for themselves (in a maze: x and y).
  if observations.shape[1] <= 4:
    return observations[:, :2], 'observation {}'
  return card.principal_components(observations), 'principal component {}'
