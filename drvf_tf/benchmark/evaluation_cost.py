"""Environment steps per second of evaluation, and its share of a run."""
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drvf_tf.envs import d4rl_tasks
from drvf_tf.policies import numpy_actor
from drvf_tf.train import rollouts, tasks

# The paper's protocol (App. C): task, episodes, train steps between them.
PROTOCOL = (('halfcheetah-medium-v2', 1, 1_000),
            ('hopper-medium-v2', 1, 1_000),
            ('antmaze-umaze-v2', 100, 20_000))


class EvaluationCost(NamedTuple):
  """Of one task.

  Attributes:
    task: Its name.
    steps_per_second: Environment steps, policy included, over all processes.
    seconds: Of one evaluation of the protocol with full episodes, were the
      processes alone on the machine.
    train_steps: Between two evaluations.
  """
  task: str
  steps_per_second: float
  seconds: float
  train_steps: int


def measure(hidden: Sequence[int], num_workers: int,
            seconds: float = 5.0) -> list[EvaluationCost]:
  """Runs episodes as training's evaluation does, with an untrained actor.

  Args:
    hidden: Widths of the actor.
    num_workers: Processes.
    seconds: Of the measurement, at least.

  Returns:
    One cost for each task of the protocol.
  """
  costs = []
  for name, episodes, train_steps in PROTOCOL:
    pool = rollouts.Rollouts(tasks.D4rlTask(name), num_workers)
    try:
      actor = _actor(name, hidden)
      pool.start(actor, range(num_workers))
      pool.collect()  # the simulators are made
      done, start = 0, time.perf_counter()
      while time.perf_counter() - start < seconds:
        pool.start(actor, range(done, done + 2 * num_workers))
        done += sum(episode.length for episode in pool.collect())
      speed = done / (time.perf_counter() - start)
    finally:
      pool.close()
    limit = d4rl_tasks.max_episode_steps(name)
    busy = min(num_workers, episodes) / num_workers
    costs.append(EvaluationCost(
        name, speed, episodes * limit / (speed * busy), train_steps))
  return costs


def _actor(task: str, hidden: Sequence[int]) -> numpy_actor.NumpyActor:
  env = d4rl_tasks.make(task)
  observation, = env.observation_space.shape
  action, = env.action_space.shape
  rng = np.random.default_rng(0)
  widths = (observation, *hidden, action)
  layers = [(rng.normal(0, a**-0.5, (a, b)).astype(np.float32),
             np.zeros(b, np.float32)) for a, b in zip(widths, widths[1:])]
  return numpy_actor.NumpyActor(
      layers, np.zeros(action, np.float32), np.ones(action, np.float32),
      np.zeros(observation, np.float32), np.ones(observation, np.float32))


def table(costs: Sequence[EvaluationCost], step_seconds: float) -> str:
  """Markdown; evaluation runs beside training, so a share is an upper bound."""
  lines = ["| task | environment steps/s | seconds of the paper's evaluation | "
           'train steps between | share of the time, at most |',
           '|---|---|---|---|---|']
  for cost in costs:
    between = cost.train_steps * step_seconds
    lines.append(
        f'| {cost.task} | {cost.steps_per_second:,.0f} | {cost.seconds:.1f} | '
        f'{cost.train_steps:,} | '
        f'{100 * cost.seconds / (cost.seconds + between):.2f} % |')
  return '\n'.join(lines)
