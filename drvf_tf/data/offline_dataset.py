"""A fixed set of transitions, with its episodes."""
import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

# The arrays of any dataset, in the order in which `hash` reads them.
ARRAYS = ('observations', 'actions', 'rewards', 'next_observations',
          'terminals', 'episode_ends')


@dataclasses.dataclass(frozen=True, eq=False)
class OfflineDataset:
  """Transitions (s, a, r, s') in the order in which they were recorded.

  The arrays are read-only. No row spans two episodes: `next_observations`
  follows from `observations` within one episode. A terminal row's next state
  is never bootstrapped from; a timeout is no terminal.

  Attributes:
    observations: [size, observation] float32.
    actions: [size, action] float32.
    rewards: [size] float32.
    next_observations: [size, observation] float32.
    terminals: [size] bool, true where the task ended in s'.
    episode_ends: [size] bool, true on the last kept row of each episode.
    name: the task's name, or the user's.
    action_low: [action] lower bounds.
    action_high: [action] upper bounds.
    reference_scores: returns that count as 0 and as 100 percent, where known.
    provenance: where the rows come from, in words.
    observation_mean: [observation], where observations are normalised: they
      are (raw - mean) / std. A policy must do the same to what it sees.
    observation_std: [observation], where observations are normalised.
    held_out: episodes that were set aside before training, where there are.
    next_actions: [size, action] what was done in s', where a method asks for
      it; a terminal row's means nothing.
    cut_off: whether the recording stopped before the last episode did.
    behaviour_log_probs: [size] log-density of each action where it was drawn,
      where the recorder knew it.
    bounds_from: where the action bounds are from, in words.
    reward_scale: rewards are reward_scale · (recorded − reward_offset).
    reward_offset: see `reward_scale`.
  """
  observations: np.ndarray
  actions: np.ndarray
  rewards: np.ndarray
  next_observations: np.ndarray
  terminals: np.ndarray
  episode_ends: np.ndarray
  name: str
  action_low: np.ndarray
  action_high: np.ndarray
  reference_scores: Optional[tuple[float, float]] = None
  provenance: str = ''
  observation_mean: Optional[np.ndarray] = None
  observation_std: Optional[np.ndarray] = None
  held_out: Optional['OfflineDataset'] = None
  next_actions: Optional[np.ndarray] = None
  cut_off: bool = False
  behaviour_log_probs: Optional[np.ndarray] = None
  bounds_from: str = ''
  reward_scale: float = 1.
  reward_offset: float = 0.

  def __post_init__(self) -> None:
    for field in dataclasses.fields(self):
      value = getattr(self, field.name)
      if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        object.__setattr__(self, field.name, view)

  @property
  def size(self) -> int:
    """Number of transitions."""
    return len(self.rewards)

  @property
  def observation_size(self) -> int:
    """Length of an observation."""
    return self.observations.shape[1]

  @property
  def num_episodes(self) -> int:
    """Number of episodes, a cut-off last one included."""
    return int(self.episode_ends.sum())

  @property
  def arrays(self) -> tuple[str, ...]:
    """Names of the arrays that have a row for each transition."""
    return (*ARRAYS, *(name for name in ('next_actions', 'behaviour_log_probs')
                       if getattr(self, name) is not None))

  def replace(self, **changes: Any) -> 'OfflineDataset':
    """A copy with other values."""
    return dataclasses.replace(self, **changes)

  def episodes(self) -> Iterator[slice]:
    """The rows of each episode, in order."""
    start = 0
    for end in np.flatnonzero(self.episode_ends):
      yield slice(start, end + 1)
      start = end + 1

  def initial_rows(self) -> np.ndarray:
    """The first row of each episode, [num_episodes]."""
    return np.flatnonzero(np.concatenate([[True], self.episode_ends[:-1]]))

  def episode_returns(self) -> np.ndarray:
    """Sum of rewards of each episode, [num_episodes]."""
    return np.add.reduceat(
        self.rewards.astype(np.float64), self.initial_rows())

  def episode_lengths(self) -> np.ndarray:
    """Number of rows of each episode, [num_episodes]."""
    ends = np.flatnonzero(self.episode_ends)
    return np.diff(np.concatenate([[-1], ends]))

  def hash(self) -> str:
    """SHA-256 of the arrays' content: the identity of the data."""
    digest = hashlib.sha256()
    for name in self.arrays:
      array = np.ascontiguousarray(getattr(self, name))
      digest.update(f'{name}{array.shape}{array.dtype}'.encode())
      digest.update(array.data)
    return digest.hexdigest()

  @property
  def observation_spec(self) -> Any:
    """TF-Agents' spec of an observation."""
    from drvf_tf import specs
    return specs.observation_spec(self.observation_size)

  @property
  def action_spec(self) -> Any:
    """TF-Agents' spec of an action."""
    from drvf_tf import specs
    return specs.action_spec(self.action_low, self.action_high)

  @property
  def time_step_spec(self) -> Any:
    """TF-Agents' spec of a time step."""
    from drvf_tf import specs
    return specs.time_step_spec(self.observation_size)
