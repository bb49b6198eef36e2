"""Backups: from Q at the next pair to the value each member regresses on.

A backup takes `QValues` (samples `[M, B, n]`, mean and variance `[M, B]`) and
returns `[1, B]`, one value shared by all members, or `[M, B]`, one for each.
The actor's objective reduces with the same functions.
"""
import math
from typing import Callable, Union

import gin
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.networks import q_values, statistics

Backup = Callable[[q_values.QValues], tf.Tensor]


@gin.configurable
def minimum(q: q_values.QValues) -> tf.Tensor:
  """min over members j and draws k, Eq. (14): `[1, B]`."""
  return _lowest(_lowest(q.samples, axis=2), axis=0)[tf.newaxis]


@gin.configurable
def independent_minimum(q: q_values.QValues) -> tf.Tensor:
  """Each member the min of its own draws (AntMaze, App. C): `[M, B]`."""
  return _lowest(q.samples, axis=2)


@gin.configurable
def independent_mean(q: q_values.QValues) -> tf.Tensor:
  """Each member the mean of its own draws: `[M, B]`."""
  return tf.reduce_mean(q.samples, axis=2)


@gin.configurable
def first_member(q: q_values.QValues) -> tf.Tensor:
  """The mean of the first member's draws, as ATAC's actor sees it: `[1, B]`."""
  return tf.reduce_mean(q.samples[:1], axis=2)


@gin.configurable
def minimum_of_means(q: q_values.QValues) -> tf.Tensor:
  """The lowest of the members' means over draws: `[1, B]`."""
  return _lowest(tf.reduce_mean(q.samples, axis=2), axis=0)[tf.newaxis]


@gin.configurable
def soft_minimum(q: q_values.QValues, share: float = 0.75) -> tf.Tensor:
  """share · lowest + (1 − share) · highest of those means (BCQ): `[1, B]`."""
  means = tf.reduce_mean(q.samples, axis=2)
  lowest, highest = _lowest(means, axis=0), -_lowest(-means, axis=0)
  return (share * lowest + (1.0 - share) * highest)[tf.newaxis]


@gin.configurable
def independent_lcb(q: q_values.QValues, beta: float = 0.01) -> tf.Tensor:
  """Each member its own mean less β·Std between members (PBRL): `[M, B]`."""
  return q.mean - beta * statistics.between_std(q.mean)


@gin.configurable
def lcb(q: q_values.QValues, alpha: float = gin.REQUIRED) -> tf.Tensor:
  """Q¹_lcb = Q̄ − α·Std in closed form, Sec. 4.3: `[1, B]`, no draws."""
  stats = statistics.q_statistics(q.mean, q.variance)
  return (stats.mean - alpha * stats.std)[tf.newaxis]


@gin.configurable
class FadingLcb:
  """Q¹_lcb whose α moves in a straight line from one value to another.

  A policy that knows little has to heed the spread; one whose critic has seen
  what it does can afford less of it.
  """

  def __init__(self, first: float = gin.REQUIRED, then: float = gin.REQUIRED,
               start: int = gin.REQUIRED, length: int = gin.REQUIRED):
    """Creates it; it is a backup once it follows a train step.

    Args:
      first: α up to the train step `start`.
      then: α from the train step `start + length` on.
      start: Where it begins to move.
      length: Train steps that it moves for, at least 1.
    """
    if length < 1:
      raise ValueError(f'length must be at least 1, not {length}.')
    self._first, self._then = first, then
    self._start, self._length = start, length

  def alpha(self, step: tf.Tensor) -> tf.Tensor:
    """α of a train step."""
    share = (tf.cast(step, tf.float32) - self._start) / self._length
    return self._first + (self._then - self._first) * tf.clip_by_value(
        share, 0.0, 1.0)

  def following(self, step: tf.Variable) -> Backup:
    """The backup that reads its α from a counter at every call."""
    return lambda q: lcb(q, alpha=self.alpha(step))


def following(backup: Union[Backup, FadingLcb], step: tf.Variable) -> Backup:
  """A backup as it stands, or one that changes with the train step."""
  if isinstance(backup, FadingLcb):
    return backup.following(step)
  return backup


@gin.configurable
def sampled_lcb(q: q_values.QValues,
                alpha: float = gin.REQUIRED) -> tf.Tensor:
  """Middle of Eq. (13): mean − α·Std of the M·n samples: `[1, B]`."""
  mean, variance = tf.nn.moments(q.samples, axes=[0, 2])
  return (mean - alpha * tf.sqrt(variance + 1e-8))[tf.newaxis]


def _lowest(values: tf.Tensor, axis: int) -> tf.Tensor:
  """The minimum along an axis; its slope is that of the first that has it.

  The slope of `tf.reduce_min` is shared by all values that equal the minimum.
  XLA may compute them twice and add in another order (`xla_fast_math`): then
  none of them does, and the slope is 0/0.
  """
  chosen = tf.one_hot(
      tf.argmin(values, axis), tf.shape(values)[axis], on_value=True,
      off_value=False, axis=axis, dtype=tf.bool)
  return tf.reduce_sum(tf.where(chosen, values, 0.0), axis)


def penalty(q: q_values.QValues,
            backup: Backup) -> tf.Tensor:
  """What a backup takes off the mean of Q, averaged over rows: a scalar."""
  return tf.reduce_mean(q.mean) - tf.reduce_mean(backup(q))


def lcb_coefficient(num_samples: int) -> float:
  """α of Eq. (13): E[min of N Gaussian samples] ≈ mean − α·std.

  Args:
    num_samples: N, for DRVF the M·n samples of the target.

  Returns:
    Φ⁻¹((N − π/8) / (N − π/4 + 1)).
  """
  if num_samples < 1:
    raise ValueError(f'num_samples must be at least 1, not {num_samples}.')
  probability = (num_samples - math.pi / 8) / (num_samples - math.pi / 4 + 1)
  normal = tfp.distributions.Normal(np.float64(0), np.float64(1))
  return float(normal.quantile(probability))


def td_target(reward: tf.Tensor,
              discount: tf.Tensor,
              next_value: tf.Tensor,
              next_log_pi: tf.Tensor,
              temperature: tf.Tensor,
              gamma: float) -> tf.Tensor:
  """Pessimistic target T̂ Q_j of Eq. (14): r + γ(V_j(s') − β log π(a'|s')).

  Args:
    reward: r(s, a), `[B]`.
    discount: 0 where the episode ended in a terminal state, else 1, `[B]`.
    next_value: A backup of Q(s', a'), `[1, B]` or `[M, B]`.
    next_log_pi: log π(a'|s'), `[B]`.
    temperature: β.
    gamma: γ.

  Returns:
    `[1, B]` or `[M, B]`, through which no gradient flows.
  """
  next_value -= temperature * next_log_pi
  return tf.stop_gradient(reward + gamma * discount * next_value)
