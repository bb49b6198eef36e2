"""Environment steps per second, beside gymnasium's v4 tasks."""
import statistics
import time
import warnings
from typing import Any, Callable

import gin
import numpy as np

from drvf_tf import errors
from drvf_tf.envs import d4rl_tasks

_PAIRS = (('halfcheetah-medium-v2', 'HalfCheetah-v4'),
          ('hopper-medium-v2', 'Hopper-v4'),
          ('walker2d-medium-v2', 'Walker2d-v4'))


@gin.configurable('envs_benchmark')
def run(num_steps: int = 10_000, repeats: int = 5) -> list[tuple[Any, ...]]:
  """Prints one table: our tasks beside gymnasium's.

  Both take the same random actions, turn about, and the median counts, so
  that a busy machine slows both alike.

  Args:
    num_steps: steps of one measurement.
    repeats: measurements of each environment.

  Returns:
    Rows of (task, our steps per second, gymnasium's, how much slower we are).
  """
  try:
    import gymnasium
  except ImportError as error:
    raise errors.UserError(
        'The comparison needs gymnasium: `pip install '
        "'drvf_tf[benchmark]'`.") from error
  rows = []
  for ours, theirs in _PAIRS:
    our_env = d4rl_tasks.Task(ours, seed=0)
    with warnings.catch_warnings():
      warnings.simplefilter('ignore')  # v4 is `out of date`
      their_env = gymnasium.make(theirs).unwrapped
    size = our_env.env.action_space.shape[0]
    actions = np.random.default_rng(0).uniform(
        -1, 1, (num_steps, size)).astype(np.float32)
    speeds: list[tuple[float, float]] = [
        (_speed(our_env.reset, _our_step(our_env), actions),
         _speed(their_env.reset, _their_step(their_env), actions))
        for _ in range(repeats)]
    us, them = (statistics.median(column) for column in zip(*speeds))
    rows.append((ours, us, them, them / us))
  _show(rows)
  return rows


def _our_step(task: d4rl_tasks.Task) -> Callable[[np.ndarray], bool]:
  return lambda action: task.step(action).terminal


def _their_step(env: Any) -> Callable[[np.ndarray], bool]:
  return lambda action: env.step(action)[2]


def _speed(reset: Callable[[], Any], step: Callable[[np.ndarray], bool],
           actions: np.ndarray) -> float:
  reset()
  start = time.perf_counter()
  for action in actions:
    if step(action):
      reset()
  return len(actions) / (time.perf_counter() - start)


def _show(rows: list[tuple[Any, ...]]) -> None:
  print(f'{"task":<24}{"drvf_tf":>12}{"gymnasium v4":>14}{"slower by":>11}')
  for name, ours, theirs, ratio in rows:
    print(f'{name:<24}{ours:>10,.0f}/s{theirs:>12,.0f}/s{ratio:>10.2f}x')
