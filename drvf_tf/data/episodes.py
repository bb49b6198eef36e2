"""From recorded rows to transitions that never span two episodes."""
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np


def to_transitions(arrays: Mapping[str, np.ndarray],
                   max_episode_steps: Optional[int],
                   drop_unknown_next: bool = True) -> dict[str, Any]:
  """Finds episode ends and next observations.

  Where the data have no `next_observations`, a row's next observation is the
  following row's, except at the end of an episode: a terminal row keeps its
  own observation (nothing is bootstrapped from it), and a row that timed out,
  or that the file ends with, is dropped, for its next state was not recorded.

  Args:
    arrays: D4RL's arrays; without `timeouts` (D4RL's v0 files) an episode
      ends after `max_episode_steps`.
    max_episode_steps: the task's time limit, where known.
    drop_unknown_next: false keeps the rows whose next observation is not
      known (with their own observation): for statistics, not for training.

  Returns:
    The arrays of an `OfflineDataset`, and its `cut_off`.
  """
  terminals = arrays['terminals'].astype(bool)
  if 'timeouts' in arrays:
    timeouts = arrays['timeouts'].astype(bool) & ~terminals
  else:
    timeouts = _timeouts_by_length(terminals, max_episode_steps)
  ends = terminals | timeouts
  cut_off = not ends[-1]
  ends[-1] = True  # the recording stops here, whether or not the episode did
  observations = arrays['observations'].astype(np.float32)
  keep = np.ones(len(ends), bool)
  if 'next_observations' in arrays:
    next_observations = arrays['next_observations'].astype(np.float32)
  else:
    next_observations = np.concatenate([observations[1:], observations[-1:]])
    next_observations[ends] = observations[ends]
    if drop_unknown_next:
      keep = ~ends | terminals
      # The end of a shortened episode moves to the row before it.
      ends = keep & (ends | np.concatenate([~keep[1:], [False]]))
  known = arrays.get('behaviour_log_probs')
  return {
      'behaviour_log_probs':
          None if known is None else known[keep].astype(np.float32),
      'observations': observations[keep],
      'actions': arrays['actions'][keep].astype(np.float32),
      'rewards': arrays['rewards'][keep].astype(np.float32),
      'next_observations': next_observations[keep],
      'terminals': terminals[keep],
      'episode_ends': ends[keep],
      'cut_off': bool(cut_off),
  }


def _timeouts_by_length(terminals: np.ndarray,
                        max_episode_steps: Optional[int]) -> np.ndarray:
  timeouts = np.zeros(len(terminals), bool)
  if max_episode_steps is None:
    return timeouts
  length = 0
  for row, terminal in enumerate(terminals):
    length += 1
    if terminal:
      length = 0
    elif length == max_episode_steps:
      timeouts[row], length = True, 0
  return timeouts
