"""TF-Agents' driver in a task: steps in, rows out."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tf_agents.drivers import dynamic_step_driver
from tf_agents.environments import tf_environment, tf_py_environment
from tf_agents.policies import tf_policy

from drvf_tf.finetune import exploration


def driver(environment: tf_environment.TFEnvironment,
           policy: tf_policy.TFPolicy,
           num_steps: int,
           observers: Sequence[Callable] = (),
           transition_observers: Sequence[Callable] = ()
           ) -> dynamic_step_driver.DynamicStepDriver:
  """TF-Agents' driver, its loop in a graph.

  Args:
    environment: The task.
    policy: What acts, such as an `ExplorationPolicy`.
    num_steps: Of one `run`.
    observers: Called with each `Trajectory`, such as a buffer's `add_batch`.
    transition_observers: Called with each (time step, action step, next time
      step).

  Returns:
    The driver.
  """
  made = dynamic_step_driver.DynamicStepDriver(
      environment, policy, list(observers), list(transition_observers),
      num_steps)
  made.run = tf.function(made.run, autograph=False)
  return made


class Collector:
  """Collects rows in a task whose episodes are functions of their number."""

  def __init__(self, environment: Any,
               policy: exploration.ExplorationPolicy, num_steps: int,
               width: int):
    """Creates it; nothing is played yet.

    Args:
      environment: A `SeededEpisodes`.
      policy: What acts.
      num_steps: Of one `run`.
      width: Of a row.
    """
    self._environment, self._policy = environment, policy
    self._rows = tf.Variable(tf.zeros([num_steps, width]), trainable=False)
    self._count = tf.Variable(0, trainable=False)
    self._driver = driver(
        tf_py_environment.TFPyEnvironment(environment), policy, num_steps,
        transition_observers=[self._keep])
    self._time_step: Any = None
    self._state: Any = None

  def start(self, episodes: int, actions: np.ndarray) -> np.ndarray:
    """Brings the task to where it was.

    Args:
      episodes: How many had begun; 0 at the very start.
      actions: Of the last of them so far, which are taken again, `[T, act]`.

    Returns:
      The observation there, `[obs]`.
    """
    self._environment.next_episode = max(episodes - 1, 0)
    self._time_step = self._driver.env.reset()
    for action in actions:
      self._time_step = self._driver.env.step(tf.constant(action[np.newaxis]))
    self._state = tf.constant(
        [[episodes, max(len(actions) - 1, 0)]], tf.int32)
    return self._time_step.observation.numpy()[0]

  def run(self) -> np.ndarray:
    """Takes the steps; rows of `[num_steps, width]`."""
    self._count.assign(0)
    self._time_step, self._state = self._driver.run(
        self._time_step, self._state)
    return self._rows.numpy()

  def _keep(self, transition: Any) -> tf.Tensor:
    """Notes a transition; the one from an end to a start is written over."""
    time_step, action_step, next_step = transition
    row = tf.concat([
        time_step.observation, action_step.action,
        next_step.reward[:, tf.newaxis], next_step.discount[:, tf.newaxis],
        next_step.observation,
        *(tf.cast(values, tf.float32)[:, tf.newaxis] for values in (
            next_step.is_last(), *_seen(action_step.info)))], axis=1)
    noted = self._rows.scatter_nd_update([[self._count]], row)
    with tf.control_dependencies([noted]):
      return self._count.assign_add(
          tf.cast(~time_step.is_last()[0], tf.int32))


def _seen(info: Any) -> list[tf.Tensor]:
  return [info['q_std'], info['in_support']] if info else []
