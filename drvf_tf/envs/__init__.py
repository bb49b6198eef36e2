"""D4RL's tasks, from pip alone and with D4RL's own physics.

Importing this package registers D4RL's tasks with gym: `gym.make` knows them.
TensorFlow is imported by `load` and `load_parallel` only.
"""
from typing import TYPE_CHECKING

from drvf_tf.envs import d4rl_tasks
from drvf_tf.envs.d4rl_tasks import (
    max_episode_steps,
    normalized_score,
    reference_scores,
    task_names,
)

if TYPE_CHECKING:
  from tf_agents.environments import py_environment

__all__ = ['d4rl_tasks', 'load', 'load_parallel', 'max_episode_steps',
           'normalized_score', 'reference_scores', 'task_names']


def load(name: str, seed: int) -> 'py_environment.PyEnvironment':
  """A D4RL task as a TF-Agents environment.

  Args:
    name: a name of `task_names()`, or another task that d4rl registers.
    seed: all randomness of the task follows from it.

  Returns:
    A float32 environment; a timeout has discount 1, a terminal discount 0.
  """
  from drvf_tf.envs import task_environment
  return task_environment.TaskEnvironment(name, seed)


def load_parallel(
    name: str, seed: int, num_envs: int) -> 'py_environment.PyEnvironment':
  """`num_envs` copies of a task, each in its process, as one batch."""
  from drvf_tf.envs import parallel
  return parallel.ParallelTasks(name, seed, num_envs)
