"""Checks of raw arrays, each with an error of its own and a cure."""
from collections.abc import Mapping

import numpy as np

from drvf_tf import errors

REQUIRED = ('observations', 'actions', 'rewards', 'terminals')
OPTIONAL = ('timeouts', 'next_observations')
# Sums of float32 rounding in a stored action, not a real violation.
_BOUND_SLACK = 1e-4


class DatasetError(errors.UserError):
  """The data cannot be used for training."""


class MissingKeyError(DatasetError):
  """An array is missing."""


class LengthError(DatasetError):
  """Arrays have different numbers of rows, or none, or the wrong rank."""


class NotFiniteError(DatasetError):
  """NaN or infinity in the data."""


class ActionBoundsError(DatasetError):
  """Actions outside the task's bounds."""


class SizeError(DatasetError):
  """Observations or actions are not of the task's size."""


class NoRewardError(DatasetError):
  """A sparse task whose rewards are all zero."""


class TruncatedFileError(DatasetError):
  """A file that is not a whole HDF5 or npz file."""


def check_form(arrays: Mapping[str, np.ndarray], source: str) -> None:
  """Keys, ranks, lengths and finite values: what any dataset must have."""
  missing = [key for key in REQUIRED if key not in arrays]
  if missing:
    raise MissingKeyError(
        f'{source} has no array {missing[0]!r} (it has '
        f'{", ".join(sorted(arrays)) or "none"}): D4RL data need '
        f'{", ".join(REQUIRED)}.')
  rows = len(arrays['observations'])
  if rows == 0:
    raise LengthError(f'{source} has no rows: collect or download it again.')
  for key in REQUIRED + OPTIONAL:
    if key not in arrays:
      continue
    rank = 2 if key.endswith(('observations', 'actions')) else 1
    if arrays[key].ndim != rank:
      raise LengthError(
          f'{key!r} of {source} has shape {arrays[key].shape}: it must have '
          f'{rank} axis{"" if rank == 1 else "es"}, rows first.'.replace(
              'axises', 'axes'))
    if len(arrays[key]) != rows:
      raise LengthError(
          f'{key!r} of {source} has {len(arrays[key]):,} rows and '
          f"'observations' {rows:,}: all arrays must have the same length.")
    _check_finite(key, arrays[key], source)


def _check_finite(key: str, array: np.ndarray, source: str) -> None:
  bad = ~np.isfinite(array.astype(np.float32).reshape(len(array), -1))
  if bad.any():
    rows = np.flatnonzero(bad.any(axis=1))
    raise NotFiniteError(
        f'{key!r} of {source} has NaN or infinite values in {len(rows):,} '
        f'row(s), the first is row {rows[0]:,}: remove those rows.')


def check_task(arrays: Mapping[str, np.ndarray], observation_size: int,
               action_low: np.ndarray, action_high: np.ndarray,
               source: str, task: str) -> None:
  """Sizes and bounds: what the task's own data must have."""
  found = arrays['observations'].shape[1]
  if found != observation_size:
    raise SizeError(
        f'{source} has observations of size {found}, and the task {task} has '
        f'size {observation_size}: name the task the data were recorded in.')
  if arrays['actions'].shape[1] != len(action_low):
    raise SizeError(
        f'{source} has actions of size {arrays["actions"].shape[1]}, and the '
        f'task {task} has size {len(action_low)}: name the task the data were '
        'recorded in.')
  check_bounds(arrays['actions'], action_low, action_high, source)


def check_bounds(actions: np.ndarray, low: np.ndarray, high: np.ndarray,
                 source: str) -> None:
  """Actions must lie where a policy's actions can."""
  outside = ((actions < low - _BOUND_SLACK) |
             (actions > high + _BOUND_SLACK)).any(axis=1)
  if outside.any():
    raise ActionBoundsError(
        f'{source} has {int(outside.sum()):,} row(s) with actions outside '
        f'[{np.min(low):g}, {np.max(high):g}], the first is row '
        f'{np.flatnonzero(outside)[0]:,}: rescale or clip the actions.')


def check_sparse_reward(rewards: np.ndarray, source: str, task: str) -> None:
  """A sparse task without one success teaches nothing: rarely intended."""
  if not np.any(rewards):
    raise NoRewardError(
        f'all {len(rewards):,} rewards of {source} are zero, and {task} is a '
        'task with a sparse reward: the slice holds no success, or its '
        'rewards are those of another goal (relabel them, or load with '
        'require_reward=False).')
