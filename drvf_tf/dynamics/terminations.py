"""When a task's episode ends in a terminal state: rollouts must know.

A termination takes next observations as the task gives them, `[B, obs]`, never
normalised ones, and returns `[B]` bool. A time limit is none.
"""
from collections.abc import Sequence
from typing import Callable

import gin
import tensorflow as tf

Termination = Callable[[tf.Tensor], tf.Tensor]


@gin.configurable
def never(observations: tf.Tensor) -> tf.Tensor:
  """Halfcheetah, Maze2D: an episode ends by its time limit alone."""
  return tf.zeros(tf.shape(observations)[:1], tf.bool)


@gin.configurable
def hopper_falls(observations: tf.Tensor) -> tf.Tensor:
  """Hopper: not (z > 0.7, |angle| < 0.2, all else within ±100).

  Of the observation (z, angle, joints, velocities) the task looks at all but
  z for the bound of 100, on both sides.
  """
  height, angle = observations[:, 0], observations[:, 1]
  within = tf.reduce_all(tf.abs(observations[:, 1:]) < 100.0, axis=1)
  return ~(within & _finite(observations) & (height > 0.7)
           & (tf.abs(angle) < 0.2))


@gin.configurable
def walker2d_falls(observations: tf.Tensor) -> tf.Tensor:
  """Walker2d: not (0.8 < z < 2.0, |angle| < 1.0)."""
  height, angle = observations[:, 0], observations[:, 1]
  return ~(_finite(observations) & (height > 0.8) & (height < 2.0)
           & (tf.abs(angle) < 1.0))


@gin.configurable
def reaches_goal(observations: tf.Tensor,
                 goal: Sequence[float] = gin.REQUIRED,
                 radius: float = 0.5) -> tf.Tensor:
  """AntMaze: the ant's (x, y) is within `radius` of the goal."""
  distance = tf.norm(observations[:, :2] - tf.constant(goal, tf.float32),
                     axis=1)
  return distance <= radius


def _finite(observations: tf.Tensor) -> tf.Tensor:
  return tf.reduce_all(tf.math.is_finite(observations), axis=1)
