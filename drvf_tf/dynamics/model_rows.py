"""Which rows a model may learn from, and which it is judged on."""
from typing import NamedTuple

import numpy as np

from drvf_tf import errors
from drvf_tf.data import offline_dataset


class Split(NamedTuple):
  """Row numbers of a dataset.

  Attributes:
    train: `[n]`, to learn from.
    held_out: Windows of consecutive rows of one episode, each `[length]`.
  """
  train: np.ndarray
  held_out: tuple[np.ndarray, ...]

  @property
  def held_out_rows(self) -> np.ndarray:
    """The rows of all windows, `[m]`."""
    return np.concatenate(self.held_out)


def usable(dataset: offline_dataset.OfflineDataset) -> np.ndarray:
  """Rows whose next observation was seen to follow, `[size]` bool.

  The last row of an episode that was cut may lead into the next one, so it is
  left out. A terminal row counts where its next observation was recorded: a
  dataset without them repeats the row's own.
  """
  cut = dataset.episode_ends & ~dataset.terminals
  repeated = dataset.terminals & np.all(
      dataset.next_observations == dataset.observations, axis=1)
  return ~(cut | repeated)


def split(dataset: offline_dataset.OfflineDataset, share: float,
          max_rows: int, window: int, seed: int) -> Split:
  """Sets windows of consecutive rows aside.

  Whole windows, for a single row is all but known from its neighbours, and
  because what happens over several steps is to be judged, too.

  Args:
    dataset: The data.
    share: Of the usable rows, to hold out.
    max_rows: But not more than these, give or take a window.
    window: Rows of a window; fewer where an episode ends.
    seed: Of the choice.

  Returns:
    The split.

  Raises:
    UserError: There are too few rows.
  """
  rows = np.flatnonzero(usable(dataset))
  if not len(rows):
    raise errors.UserError(
        f'{dataset.name} has no row whose next observation is known to follow, '
        'which a dynamics model learns from: give longer episodes, or a method '
        'without a model.')
  follows = np.concatenate([[False], (np.diff(rows) == 1)
                            & ~dataset.episode_ends[rows[:-1]]])
  count = np.arange(len(rows))
  start = np.maximum.accumulate(np.where(follows, 0, count))
  number = np.cumsum((count - start) % window == 0) - 1  # of each row's window
  windows = np.split(rows, np.flatnonzero(np.diff(number)) + 1)
  wanted = min(max_rows, int(share * len(rows)))
  order = np.random.default_rng(seed).permutation(len(windows))
  reached = np.cumsum([len(windows[i]) for i in order])
  chosen = order[:np.searchsorted(reached, max(wanted, 1)) + 1]
  if len(chosen) == len(windows):
    raise errors.UserError(
        f'{dataset.name} has {len(rows)} rows for a dynamics model, too few to '
        f'hold windows of {window} out: give more data, or a smaller '
        'ModelFit.window.')
  return Split(rows[~np.isin(number, chosen)],
               tuple(windows[i] for i in sorted(chosen)))


def inputs(dataset: offline_dataset.OfflineDataset,
           rows: np.ndarray) -> np.ndarray:
  """(s, a) of rows, `[n, obs + act]`."""
  return np.concatenate(
      [dataset.observations[rows], dataset.actions[rows]], axis=1)


def targets(dataset: offline_dataset.OfflineDataset,
            rows: np.ndarray) -> np.ndarray:
  """(s' − s, r) of rows, `[n, obs + 1]`."""
  change = dataset.next_observations[rows] - dataset.observations[rows]
  return np.concatenate([change, dataset.rewards[rows, np.newaxis]], axis=1)
