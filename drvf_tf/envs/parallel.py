"""Several copies of a task, each in its own process, as one batch."""
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
from tf_agents.environments import py_environment
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf import errors, specs
from drvf_tf.envs import d4rl_tasks, worker


class ParallelTasks(py_environment.PyEnvironment):
  """`num_envs` copies of a D4RL task, stepped at the same time.

  Copy i is seeded from (seed, i). A copy whose episode is over starts the
  next one at the following step, as TF-Agents' batched environments do.
  """

  def __init__(self, name: str, seed: int, num_envs: int):
    if num_envs < 1:
      raise errors.UserError(
          f'num_envs is {num_envs}: evaluation needs 1 or more processes.')
    super().__init__(handle_auto_reset=False)
    space = d4rl_tasks.make(name)
    self._observation_spec = specs.observation_spec(
        space.observation_space.shape[0])
    self._action_spec = specs.action_spec(
        space.action_space.low, space.action_space.high)
    self._name = name
    self._workers = [_start(name, worker_seed(seed, i))
                     for i in range(num_envs)]

  @property
  def name(self) -> str:
    """The task's name."""
    return self._name

  @property
  def batched(self) -> bool:
    """Every array has a leading axis of `batch_size`."""
    return True

  @property
  def batch_size(self) -> int:
    """The number of copies."""
    return len(self._workers)

  def observation_spec(self) -> types.NestedArraySpec:
    """Of one copy, without the batch axis."""
    return self._observation_spec

  def action_spec(self) -> types.NestedArraySpec:
    """Of one copy, without the batch axis."""
    return self._action_spec

  def _reset(self) -> ts.TimeStep:
    return _batch(self._ask('reset', [()] * self.batch_size))

  def _step(self, action: types.NestedArray) -> ts.TimeStep:
    return _batch(self._ask('step', [(row,) for row in np.asarray(action)]))

  def render(self, mode: str = 'rgb_array') -> np.ndarray:
    """One picture of each copy, [batch, height, width, 3]."""
    return np.stack(self._ask('render', [(mode,)] * self.batch_size))

  def close(self) -> None:
    """Ends the processes."""
    workers, self._workers = self._workers, []
    for process in workers:
      process.stdin.close()  # type: ignore[union-attr]
    for process in workers:
      process.wait()
      process.stdout.close()  # type: ignore[union-attr]

  def __del__(self) -> None:
    if getattr(self, '_workers', None):
      self.close()

  def _ask(self, method: str, arguments: list[Any]) -> list[Any]:
    for process, args in zip(self._workers, arguments):
      _send(process, (method, args))
    answers = [_receive(process) for process in self._workers]
    for worked, answer in answers:
      if not worked:
        raise errors.UserError(answer)
    return [answer for _, answer in answers]


def worker_seed(seed: int, index: int) -> int:
  """Seeds of copies that neither repeat nor meet those of another run."""
  return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])


def _batch(steps: list[worker.Step]) -> ts.TimeStep:
  step_types, rewards, discounts, observations = zip(*steps)
  return ts.TimeStep(
      np.array(step_types, np.int32), np.array(rewards, np.float32),
      np.array(discounts, np.float32), np.stack(observations))


def _start(name: str, seed: int) -> subprocess.Popen:
  process = subprocess.Popen(
      [sys.executable, '-m', 'drvf_tf.envs.worker'],
      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
  _send(process, (name, seed))
  return process


def _send(process: subprocess.Popen, message: Any) -> None:
  assert process.stdin is not None
  try:
    pickle.dump(message, process.stdin, pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
  except BrokenPipeError as error:
    raise RuntimeError('an environment process died; see its message '
                       'above') from error


def _receive(process: subprocess.Popen) -> Any:
  assert process.stdout is not None
  try:
    return pickle.load(process.stdout)
  except EOFError as error:
    raise RuntimeError('an environment process died; see its message '
                       'above') from error
