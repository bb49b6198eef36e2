"""One D4RL task as a TF-Agents environment."""
from typing import Any

import numpy as np
from tf_agents.environments import py_environment
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf import specs
from drvf_tf.envs import d4rl_tasks


class TaskEnvironment(py_environment.PyEnvironment):
  """A D4RL task whose timeouts keep discount 1.

  TF-Agents' `suite_gym` leaves gym's time limit in place, which makes a
  timeout look like a terminal state.
  """

  def __init__(self, name: str, seed: int):
    super().__init__()
    self._task = d4rl_tasks.Task(name, seed)

  @property
  def gym(self) -> Any:
    """D4RL's own environment, without wrappers of gym."""
    return self._task.env

  @property
  def name(self) -> str:
    """The task's name."""
    return self._task.name

  def observation_spec(self) -> types.NestedArraySpec:
    """A flat float32 array."""
    return specs.observation_spec(self.gym.observation_space.shape[0])

  def action_spec(self) -> types.NestedArraySpec:
    """A flat float32 array within the task's bounds."""
    return specs.action_spec(
        self.gym.action_space.low, self.gym.action_space.high)

  def _reset(self) -> ts.TimeStep:
    return ts.restart(self._task.reset())

  def _step(self, action: types.NestedArray) -> ts.TimeStep:
    if self._current_time_step.is_last():
      return self.reset()
    outcome = self._task.step(action)
    if outcome.terminal:
      return ts.termination(outcome.observation, outcome.reward)
    if outcome.timeout:
      return ts.truncation(outcome.observation, outcome.reward)
    return ts.transition(outcome.observation, outcome.reward)

  def render(self, mode: str = 'rgb_array') -> np.ndarray:
    """A picture of the present state, [height, width, 3]."""
    return self._task.render(mode)


class SeededEpisodes(TaskEnvironment):
  """A task whose n-th episode is a function of (seed, n) and of its actions.

  Attributes:
    next_episode: n of the episode that the next reset starts.
  """

  def __init__(self, name: str, seed: int):
    super().__init__(name, seed)
    self._seed, self.next_episode = seed, 0

  def _reset(self) -> ts.TimeStep:
    seed = np.random.SeedSequence([self._seed, self.next_episode])
    self.next_episode += 1
    return ts.restart(self._task.reset(int(seed.generate_state(1)[0])))
