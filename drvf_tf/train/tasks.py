"""Tasks a policy is evaluated in; no TensorFlow, for worker processes.

A task gives seeded episodes and a score: `episode(act, seed)`, `score`, `name`.
It is sent to worker processes by pickle, and makes its simulator there.
"""
from typing import (
  TYPE_CHECKING,
  Any,
  Callable,
  NamedTuple,
  Optional,
  Protocol,
)

import gin
import numpy as np

from drvf_tf import errors

if TYPE_CHECKING:
  from tf_agents.environments import py_environment

_NO_SIMULATOR = (
    '{!r} has no simulator to play episodes in: evaluate with --offline, or '
    'train with train_eval.evaluation = @DataEvaluation.')


class Episode(NamedTuple):
  """What one episode gave."""
  episode_return: float
  length: int


Act = Callable[[np.ndarray], np.ndarray]  # observations to actions


class Task(Protocol):
  """What evaluation needs of a task; it must survive a pickle."""

  @property
  def name(self) -> str:
    """The task's name."""

  def episode(self, act: Act, seed: int,
              watch: Optional[Callable[[Any], None]] = None) -> Episode:
    """Runs one episode, which depends on `seed` and `act` alone."""

  def score(self, returns: Any) -> np.ndarray:
    """Scores of returns."""


@gin.configurable
class OwnData:
  """No task: logs, and nothing to play an episode in."""

  def __init__(self, name: str = 'own data'):
    """Takes a name.

    Args:
      name: What run.json and figures call it.
    """
    self._name = name

  @property
  def name(self) -> str:
    """What it is called."""
    return self._name

  def episode(self, act: Act, seed: int,
              watch: Optional[Callable[[Any], None]] = None) -> Episode:
    """There is none."""
    del act, seed, watch
    raise errors.UserError(_NO_SIMULATOR.format(self._name))

  def score(self, returns: Any) -> np.ndarray:
    """There is none."""
    del returns
    raise errors.UserError(_NO_SIMULATOR.format(self._name))


@gin.configurable
class D4rlTask:
  """Seeded episodes of a D4RL task."""

  def __init__(self, name: str = gin.REQUIRED):
    """Checks the name; the simulator is made at the first episode.

    Args:
      name: A D4RL task's.
    """
    from drvf_tf.envs import d4rl_tasks
    self._limit = d4rl_tasks.max_episode_steps(name)
    self._name = name
    self._env: Any = None

  @property
  def name(self) -> str:
    """The task's name."""
    return self._name

  def __getstate__(self) -> dict:
    return {**self.__dict__, '_env': None}

  def episode(self,
              act: Act,
              seed: int,
              watch: Optional[Callable[[Any], None]] = None) -> Episode:
    """Runs one episode.

    Args:
      act: An observation `[obs]` to an action `[act]`.
      seed: The episode depends on it and on `act` alone.
      watch: Called with gym's environment before every step.

    Returns:
      The sum of the task's own rewards, and the number of steps.
    """
    if self._env is None:
      from drvf_tf.envs import d4rl_tasks
      self._env = d4rl_tasks.make(self._name)
    observation = self._env.reset(seed=seed)
    total, length, done = 0.0, 0, False
    while not done and length < self._limit:
      if watch is not None:
        watch(self._env)
      action = act(np.asarray(observation, np.float32))
      observation, reward, done, _ = self._env.step(action)
      total += float(reward)
      length += 1
    return Episode(total, length)

  def environment(self, seed: int) -> 'py_environment.PyEnvironment':
    """The task as TF-Agents' drivers take it, to collect in."""
    from drvf_tf.envs import task_environment
    return task_environment.SeededEpisodes(self._name, seed)

  def score(self, returns: Any) -> np.ndarray:
    """D4RL's normalised scores in percent."""
    from drvf_tf.envs import d4rl_tasks
    return d4rl_tasks.normalized_score(self._name, returns)
