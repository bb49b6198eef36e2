"""Random draws that depend on nothing but a seed, the step and their purpose.

A run that is stopped and resumed, and a run on several replicas, sees the same
noise as one that was never stopped on one device: noise of the batch is drawn
for the global batch, and a replica takes its own rows; weights of the head are
drawn alike on every replica, because one draw is one function.
"""
import math
import random
from collections.abc import Sequence
from typing import Any, Callable, Union

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.distributions import utils as distribution_utils

# How close to its bounds an action of the data may be, of ±1: there the
# likelihood of a tanh-Gaussian has no limit.
_LARGEST = 0.9999


class Draws:
  """A stream of stateless draws; every call uses a new sub-seed."""

  def __init__(self, seed: tf.Tensor):
    """Creates the stream.

    Args:
      seed: Stateless seed, int `[2]`; its last number may be a step's.
    """
    self._seed = seed
    self._count = 0

  @classmethod
  def at_step(cls, seed: int, step: tf.Tensor) -> 'Draws':
    """The stream of a train step."""
    scattered = random.Random(f'draws {seed}').getrandbits(30)
    return cls(tf.stack([scattered, tf.cast(step, tf.int32)]))

  def seed(self) -> tf.Tensor:
    """The next sub-seed, `[2]`."""
    self._count += 1
    # Not where steps are counted: one's second draw would be the next's first.
    return self._seed + tf.constant([self._count, 0], self._seed.dtype)

  def normal(self, shape: Sequence) -> tf.Tensor:
    """Standard normal noise; the batch is the last axis but one."""
    return self._rows(standard_normal, shape)

  def uniform(self, shape: Sequence) -> tf.Tensor:
    """Noise uniform in [0, 1); the batch is the last axis but one."""
    return self._rows(tf.random.stateless_uniform, shape)

  def _rows(self, generate: Callable[..., tf.Tensor],
            shape: Sequence) -> tf.Tensor:
    replicas = num_replicas()
    if replicas == 1:
      return generate(shape, self.seed())
    rows = shape[-2]
    values = generate([*shape[:-2], replicas * rows, shape[-1]], self.seed())
    context = tf.distribute.get_replica_context()
    first = context.replica_id_in_sync_group * rows
    return values[..., first:first + rows, :]


def standard_normal(shape: Sequence, seed: tf.Tensor) -> tf.Tensor:
  """`tf.random.stateless_normal`, less its product with 1 and its sum with 0.

  Args:
    shape: Of the result.
    seed: Stateless seed, `[2]`.

  Returns:
    float32.
  """
  key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
  return tf.raw_ops.StatelessRandomNormalV2(
      shape=shape, key=key, counter=counter,
      alg=tf.random.Algorithm.AUTO_SELECT.value)


def num_rows(values: tf.Tensor) -> Union[int, tf.Tensor]:
  """B of `[B, ...]`: a number where the graph knows it."""
  known = values.shape[0]
  return tf.shape(values)[0] if known is None else known


def fold(seed: int, *numbers: Any) -> tf.Tensor:
  """A stateless seed of a seed and what it is for, int32 `[2]`."""
  result = tf.constant([seed & 0x7fffffff, 0], tf.int32)
  for number in numbers:
    result = tf.random.experimental.stateless_fold_in(result, number)
  return result


def num_replicas() -> int:
  """How many replicas share the global batch."""
  context = tf.distribute.get_replica_context()
  return context.num_replicas_in_sync if context else 1


def sample_actions(distribution: tfp.distributions.Distribution,
                   noise: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Reparameterised actions and their log-probabilities.

  Args:
    distribution: The actor's: a Gaussian squashed to the action bounds.
    noise: Standard normal, `[..., B, act]`.

  Returns:
    (actions `[..., B, act]`, log π `[..., B]`).
  """
  mean, std = _gaussian(distribution)
  unsquashed = mean + std * noise
  return (_squash(distribution, unsquashed),
          _log_density(distribution, unsquashed, noise, std))


def sample_bare_actions(distribution: tfp.distributions.Distribution,
                        noise: tf.Tensor) -> tf.Tensor:
  """`sample_actions` where nobody asks for their log-probabilities."""
  mean, std = _gaussian(distribution)
  return _squash(distribution, mean + std * noise)


def log_likelihood(distribution: tfp.distributions.Distribution,
                   actions: tf.Tensor) -> tf.Tensor:
  """log π of given actions, `[B]`; those at the bounds count as just inside.

  Args:
    distribution: The actor's: a Gaussian squashed to the action bounds.
    actions: `[B, act]`.

  Returns:
    `[B]`.
  """
  mean, std = _gaussian(distribution)
  inside = ((actions - distribution.action_means)
            / distribution.action_magnitudes)
  unsquashed = tf.atanh(tf.clip_by_value(inside, -_LARGEST, _LARGEST))
  return _log_density(
      distribution, unsquashed, (unsquashed - mean) / std, std)


def _squash(distribution: distribution_utils.SquashToSpecNormal,
            unsquashed: tf.Tensor) -> tf.Tensor:
  return (distribution.action_magnitudes * tf.tanh(unsquashed)
          + distribution.action_means)


def _gaussian(distribution: tfp.distributions.Distribution
              ) -> tuple[tf.Tensor, tf.Tensor]:
  """Mean and standard deviation before the tanh, `[B, act]` each.

  What the actor gave, not what the distribution's own methods make of it:
  those broadcast to a shape that it has already.
  """
  if not isinstance(distribution, distribution_utils.SquashToSpecNormal):
    raise TypeError(
        "actor_network must give a tanh-Gaussian (TF-Agents' "
        f'SquashToSpecNormal), not {type(distribution).__name__}.')
  gaussian = distribution.input_distribution
  # A name of its own for each who asks: tests/agents/sum_order_test.py.
  return tf.identity(gaussian.loc), tf.identity(gaussian.scale.diag)


def _log_density(distribution: distribution_utils.SquashToSpecNormal,
                 unsquashed: tf.Tensor, deviation: tf.Tensor,
                 std: tf.Tensor) -> tf.Tensor:
  """log π of what is tanh of `unsquashed`, scaled.

  Args:
    distribution: The actor's.
    unsquashed: `[..., B, act]`.
    deviation: Of `unsquashed` from its mean, in standard deviations.
    std: Of `unsquashed`, `[B, act]`.

  Returns:
    `[..., B]`.
  """
  log_normal = -0.5 * tf.square(deviation) - tf.math.log(std)
  # log |d tanh(x)/dx| = 2 (log 2 − |x| − softplus(−2|x|)), finite for every x.
  size = tf.abs(unsquashed)
  slope = size + tf.math.softplus(-2.0 * size)  # log 2 − half of it
  constant = std.shape[-1] * math.log(4.0 * math.sqrt(2.0 * math.pi)) + np.sum(
      np.log(np.broadcast_to(distribution.action_magnitudes, std.shape[-1:])))
  return tf.reduce_sum(log_normal + 2.0 * slope, axis=-1) - constant
