"""Terms of the critic's and the actor's objectives, each before weighting."""
from collections.abc import Sequence
from typing import Callable

import gin
import tensorflow as tf

from drvf_tf.networks import q_values

Spread = Callable[[q_values.QValues], tf.Tensor]
TdError = Callable[[q_values.QValues, tf.Tensor], tf.Tensor]
KlScale = Callable[[int, float], float]  # (weights of a head, num_batches)
# sqrt has an infinite slope at 0, and samples that coincide have variance 0:
# added to a variance, this keeps the gradient finite there.
_SMALLEST = 1e-8


def bellman_error(samples: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
  """First term of Eqs. (10) and (16): (Q_j^(k) − T̂ Q_j)².

  The draws are regressed, not their mean: in expectation that adds the
  posterior variance ψᵀΣψ, the only force that shrinks σ on the data.

  Args:
    samples: Q at the data, `[M, B, n]`.
    targets: `[1, B]` or `[M, B]`.

  Returns:
    Mean over draws, sum over members: `[B]`.
  """
  errors = tf.square(samples - tf.expand_dims(targets, 2))  # [M, B, n]
  return (1.0 / samples.shape[2]) * tf.reduce_sum(errors, axis=[0, 2])


@gin.configurable
def sampled_error(q: q_values.QValues, targets: tf.Tensor) -> tf.Tensor:
  """`bellman_error` of the draws: `[B]`."""
  return bellman_error(q.samples, targets)


@gin.configurable
def expected_error(q: q_values.QValues, targets: tf.Tensor) -> tf.Tensor:
  """Its mean over all draws, E_w[(Q_j − T̂ Q_j)²] = (Q̄_j − T̂ Q_j)² + Var_j.

  Args:
    q: Q at the data; its draws are not used.
    targets: `[1, B]` or `[M, B]`.

  Returns:
    Sum over members: `[B]`.
  """
  return tf.reduce_sum(tf.square(q.mean - targets) + q.variance, axis=0)


@gin.configurable
def kl_per_batch(num_weights: int, num_batches: float) -> float:
  """Scale of the KL in Eq. (10): once per epoch, 1/num_batches = B/|D|."""
  del num_weights
  return 1.0 / num_batches


@gin.configurable
def kl_mean(num_weights: int, num_batches: float,
            factor: float = 1.0) -> float:
  """Scale of the KL in Eq. (10): `factor` · mean over the head's d weights."""
  del num_batches
  return factor / num_weights


@gin.configurable
def kl_sum(num_weights: int, num_batches: float) -> float:
  """Scale of the KL in Eq. (10): the sum itself, Eq. (16) to the letter."""
  del num_weights, num_batches
  return 1.0


@gin.configurable
def kl_zero(num_weights: int, num_batches: float) -> float:
  """Scale of the KL in Eq. (10): none, for the ablation."""
  del num_weights, num_batches
  return 0.0


@gin.configurable
def pooled_std(q: q_values.QValues) -> tf.Tensor:
  """R of Eq. (15), read with Sec. 5.2: Std over all M·n samples, `[R]`."""
  return _std(q.samples, axes=[0, 2])


@gin.configurable
def per_member_std(q: q_values.QValues) -> tf.Tensor:
  """R of Eq. (15) in each L_j of (16): Σ_j Std over own n draws, `[R]`."""
  return tf.reduce_sum(_std(q.samples, axes=[2]), axis=0)


@gin.configurable
def between_means_std(q: q_values.QValues) -> tf.Tensor:
  """R on the members' closed-form means: Std over members alone, `[R]`."""
  return _std(q.mean, axes=[0])


@gin.configurable
def total_std(q: q_values.QValues) -> tf.Tensor:
  """R of Eq. (15) as `pooled_std`, of infinitely many draws: `[R]`."""
  variance = (tf.reduce_mean(q.variance, axis=0)
              + tf.math.reduce_variance(q.mean, axis=0))
  return tf.sqrt(variance + _SMALLEST)


def _std(values: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
  return tf.sqrt(tf.math.reduce_variance(values, axis=axes) + _SMALLEST)


def actor_objective(value: tf.Tensor, log_pi: tf.Tensor,
                    temperature: tf.Tensor) -> tf.Tensor:
  """L_actor of Eq. (17): −(min_{j,k} Q(s, a) − β log π(a|s)).

  Args:
    value: A backup of Q(s, a), `[1, B]` or `[M, B]` (then averaged).
    log_pi: log π(a|s), `[B]`.
    temperature: β.

  Returns:
    `[B]`.
  """
  return temperature * log_pi - tf.reduce_mean(value, axis=0)


def temperature_objective(log_temperature: tf.Tensor, log_pi: tf.Tensor,
                          target_entropy: float) -> tf.Tensor:
  """SAC's objective for β: log β · (entropy − its target), `[B]`."""
  return log_temperature * tf.stop_gradient(-log_pi - target_entropy)
