"""Collects data in D4RL's format by acting in a task."""
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np
import tqdm

from drvf_tf import errors

if TYPE_CHECKING:
  from tf_agents.policies import py_policy

# (observation, is it the first of its episode) -> action
Actor = Callable[[np.ndarray, bool], np.ndarray]
_KEYS = ('observations', 'actions', 'rewards', 'next_observations',
         'terminals', 'timeouts')


def collect(task_name: str, actor: Actor, num_steps: int,
            seed: int) -> dict[str, np.ndarray]:
  """Acts for `num_steps` steps; arrays by D4RL's keys."""
  from drvf_tf.envs import d4rl_tasks
  task = d4rl_tasks.Task(task_name, seed)
  rows: dict[str, list] = {key: [] for key in _KEYS}
  observation, first = task.reset(), True
  for _ in tqdm.trange(num_steps, desc=task_name, unit=' steps',
                       mininterval=1):
    action = np.asarray(actor(observation, first), np.float32)
    outcome = task.step(action)
    for key, value in zip(_KEYS, (
        observation, action, outcome.reward, outcome.observation,
        outcome.terminal, outcome.timeout)):
      rows[key].append(value)
    first = outcome.terminal or outcome.timeout
    observation = task.reset() if first else outcome.observation
  return {key: np.array(values) for key, values in rows.items()}


def random_actor(task_name: str, seed: int) -> Actor:
  """Uniform actions within the task's bounds."""
  from drvf_tf.envs import d4rl_tasks
  space = d4rl_tasks.make(task_name).action_space
  rng = np.random.default_rng(seed)
  return lambda observation, first: rng.uniform(
      space.low, space.high).astype(np.float32)


def policy_actor(policy: 'py_policy.PyPolicy', task_name: str, seed: int,
                 action_noise: float) -> Actor:
  """A policy of TF-Agents, with Gaussian noise on its actions.

  Args:
    policy: on batches of time steps, as `policies.loading.load` gives it.
    task_name: the task to act in.
    seed: of the noise. Data of a greedy policy follow from the seed; a policy
      that samples inside its own graph keeps its own randomness.
    action_noise: standard deviation, as a share of half the action's range.

  Returns:
    The actor.
  """
  from tf_agents.trajectories import time_step as ts

  from drvf_tf.envs import d4rl_tasks
  space = d4rl_tasks.make(task_name)
  _check_specs(policy, space, task_name)
  low, high = space.action_space.low, space.action_space.high
  rng = np.random.default_rng(seed)
  state: list = [()]

  def act(observation: np.ndarray, first: bool) -> np.ndarray:
    if first:
      state[0] = policy.get_initial_state(1)
    batch = np.asarray(observation, np.float32)[np.newaxis]
    time_step = ts.restart(batch, 1) if first else ts.transition(
        batch, np.zeros(1, np.float32), np.ones(1, np.float32))
    step = policy.action(time_step, state[0])
    state[0] = step.state
    noise = action_noise * (high - low) / 2 * rng.standard_normal(low.shape)
    return np.clip(np.asarray(step.action)[0] + noise, low, high)

  return act


def _check_specs(policy: 'py_policy.PyPolicy', space: Any,
                 task_name: str) -> None:
  expected = (space.observation_space.shape, space.action_space.shape)
  found = (tuple(policy.time_step_spec.observation.shape),
           tuple(policy.action_spec.shape))
  if found != expected:
    raise errors.UserError(
        f'the policy takes observations {found[0]} and gives '
        f'actions {found[1]}, and {task_name} has {expected[0]} and '
        f'{expected[1]}: name the task it was trained for.')


def episodes_in_words(arrays: Mapping[str, np.ndarray]) -> str:
  """How many episodes were recorded, and whether the last one is whole."""
  ends = arrays['terminals'] | arrays['timeouts']
  whole = int(ends.sum())
  if ends[-1]:
    return f'{whole:,} whole episode{"s" * (whole != 1)}'
  return (f'{whole + 1:,} episode{"s" * (whole > 0)} ({whole:,} whole, the '
          'last cut off by the end of the recording)')


def describe(actor: str, num_steps: int, seed: int,
             action_noise: Optional[float]) -> str:
  """The note that a collected file carries."""
  noise = f', action noise {action_noise:g}' if action_noise else ''
  return f'collected, not D4RL: {actor}{noise}, {num_steps} steps, seed {seed}'
