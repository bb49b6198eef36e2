"""Checks of raw arrays, each with an error of its own and a cure."""
from collections.abc import Mapping
from typing import Optional

import numpy as np

from drvf_tf import errors

REQUIRED = ('observations', 'actions', 'rewards', 'terminals')
OPTIONAL = ('timeouts', 'next_observations', 'behaviour_log_probs')
BOUNDS = ('action_low', 'action_high')  # one number for each action entry
_FLAGS = ('terminals', 'timeouts')
# Rows inside episodes whose next observation may differ from the following
# row's, before the rows count as out of order.
_MAX_BREAKS = 0.5
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


class NotNumbersError(DatasetError):
  """Text or objects in place of numbers, or flags that are not 0 and 1."""


class ActionBoundsError(DatasetError):
  """Actions outside the task's bounds, or bounds that cannot be."""


class EpisodesError(DatasetError):
  """Where episodes end is not told, or rows are not in order of time."""


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
    if arrays[key].dtype.kind not in 'biuf':
      raise NotNumbersError(
          f'{key!r} of {source} holds {arrays[key].dtype} and not numbers: '
          'give every entry as a number.')
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
    if key in _FLAGS and not np.isin(arrays[key], (0, 1)).all():
      found = arrays[key][~np.isin(arrays[key], (0, 1))][0]
      raise NotNumbersError(
          f'{key!r} of {source} has the value {found:g}, and flags are 0 or 1: '
          '1 on the last row of an episode, 0 on all others.')


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


def check_own_logs(arrays: Mapping[str, np.ndarray], source: str) -> None:
  """What nobody but the recorder knows: ends, order, a reward to learn from.

  Args:
    arrays: That `check_form` found well formed; there is no task.
    source: Where they are from.
  """
  if 'timeouts' not in arrays:
    raise EpisodesError(
        f"{source} has no array 'timeouts', and without a task only it tells "
        'where an episode was cut: add it, 1 on the last row of an episode '
        "that goes on unrecorded; all 0 if every episode ends in 'terminals'.")
  rewards, terminals = arrays['rewards'], arrays['terminals'].astype(bool)
  if np.ptp(rewards) == 0 and not terminals.any():
    raise NoRewardError(
        f'all {len(rewards):,} rewards of {source} are {rewards[0]:g} and no '
        'episode ends, so that no policy is better than another: record what '
        'tells good from bad as the reward.')
  if 'next_observations' in arrays:
    inner = ~(terminals | arrays['timeouts'].astype(bool))[:-1]
    follows = np.isclose(arrays['next_observations'][:-1],
                         arrays['observations'][1:], 1e-3, 1e-4).all(axis=1)
    breaks = np.mean(~follows[inner]) if inner.any() else 0.0
    if breaks > _MAX_BREAKS:
      raise EpisodesError(
          f'in {100 * breaks:.0f} % of the rows of {source} '
          "'next_observations' is not the following row's observation: sort the rows by episode "
          "and step, or mark every row that nothing follows in 'timeouts'.")


def bounds_of_file(arrays: Mapping[str, np.ndarray], source: str
                   ) -> Optional[tuple[np.ndarray, np.ndarray]]:
  """The action bounds that a file states, checked; None where it has none."""
  size = arrays['actions'].shape[1]
  found = [arrays[key] for key in BOUNDS if key in arrays]
  if not found:
    return None
  low_and_high = len(found) == 2 and all(
      bound.shape in ((), (size,)) and bound.dtype.kind in 'biuf'
      and np.isfinite(bound).all() for bound in found)
  if not low_and_high or not (found[0] < found[1]).all():
    raise ActionBoundsError(
        f"'action_low' and 'action_high' of {source} are no bounds: give both, "
        f'{size} number(s) each, every low below its high.')
  return found[0], found[1]


def bounds_of_data(actions: np.ndarray, source: str
                   ) -> tuple[np.ndarray, np.ndarray]:
  """The smallest and the largest of each action entry."""
  low, high = actions.min(axis=0), actions.max(axis=0)
  constant = np.flatnonzero(low == high)
  if constant.size:
    raise ActionBoundsError(
        f'action {constant[0]} of {source} is {low[constant[0]]:g} in every '
        'row, so that the data do not tell its bounds: leave it out of the '
        "actions, or give 'action_low' and 'action_high' in the file.")
  return low, high
