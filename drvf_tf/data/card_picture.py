"""The picture of a dataset: returns, lengths, actions, states."""
import pathlib

import numpy as np
from matplotlib import figure

from drvf_tf.data import card, offline_dataset

_MAX_POINTS = 20_000


def save(dataset: offline_dataset.OfflineDataset, path: pathlib.Path) -> None:
  """Draws four panels into a PNG file."""
  picture = figure.Figure(figsize=(10, 7.5), layout='constrained')
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
  picture.suptitle(f'{dataset.name}: {dataset.provenance}', fontsize=10)
  path.parent.mkdir(parents=True, exist_ok=True)
  picture.savefig(path, dpi=120)


def _plane(observations: np.ndarray) -> tuple[np.ndarray, str]:
  # Few dimensions speak for themselves (in a maze: x and y).
  if observations.shape[1] <= 4:
    return observations[:, :2], 'observation {}'
  return card.principal_components(observations), 'principal component {}'
