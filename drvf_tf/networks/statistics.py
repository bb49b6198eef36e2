"""What an ensemble of Q distributions says: spread, diversity, exact LCB."""
from typing import NamedTuple

import tensorflow as tf


class QStatistics(NamedTuple):
  """Closed-form statistics of Q(s, a), `[B]` each.

  Attributes:
    mean: Mean over members and posteriors.
    std: Total standard deviation; std² = std_within² + std_between².
    std_within: Root mean posterior variance of the members.
    std_between: Standard deviation of the members' means.
  """
  mean: tf.Tensor
  std: tf.Tensor
  std_within: tf.Tensor
  std_between: tf.Tensor


def q_statistics(mean: tf.Tensor, variance: tf.Tensor) -> QStatistics:
  """Law of total variance over members j and their posteriors, Sec. 4.3.

  Args:
    mean: `[M, B]`, per member.
    variance: `[M, B]`, per member.

  Returns:
    `QStatistics`.
  """
  within = tf.reduce_mean(variance, axis=0)  # [B]
  centre = tf.reduce_mean(mean, axis=0)  # [B]
  # Not `reduce_variance`, which has a mean of its own: see
  # tests/agents/sum_order_test.py.
  between = tf.reduce_mean(tf.square(mean - centre), axis=0)  # [B]
  return QStatistics(
      mean=centre,
      std=tf.sqrt(within + between),
      std_within=tf.sqrt(within),
      std_between=tf.sqrt(between))


def between_std(mean: tf.Tensor) -> tf.Tensor:
  """Unbiased standard deviation between members, `[M, B]` to `[B]`.

  As PBRL's code takes it (divided by M − 1); finite slope where all agree.
  """
  members = tf.cast(tf.shape(mean)[0], mean.dtype)
  variance = tf.math.reduce_variance(mean, axis=0) * members / (members - 1)
  return tf.sqrt(variance + 1e-8)


def effective_members(samples: tf.Tensor) -> tf.Tensor:
  """Participation ratio of the Q samples' covariance.

  With the covariance C over the M·n sample functions, taken across the rows
  of the batch after the mean sample is removed, tr(C)²/tr(C²) counts how many
  directions the samples really differ in: M·n − 1 at the most, 1 when all
  differ along one function only, 0 when all coincide.

  Args:
    samples: `[M, B, n]`.

  Returns:
    A scalar.
  """
  functions = tf.reshape(
      tf.transpose(samples, [0, 2, 1]), [-1, tf.shape(samples)[1]])  # [M·n, B]
  deviations = functions - tf.reduce_mean(functions, axis=0)
  covariance = tf.matmul(deviations, deviations, transpose_b=True)
  trace = tf.linalg.trace(covariance)
  return tf.math.divide_no_nan(tf.square(trace),
                               tf.reduce_sum(tf.square(covariance)))


def exact_lcb_penalty(features: tf.Tensor,
                      data_features: tf.Tensor,
                      prior_precision: float = 1.0) -> tf.Tensor:
  """Γ of Eq. (11): [ψᵀ Λ⁻¹ ψ]^½ with Λ = Σ_i ψ_i ψ_iᵀ + λI.

  Args:
    features: ψ of the queries, `[B, d]`.
    data_features: ψ of the data, `[N, d]`.
    prior_precision: λ.

  Returns:
    `[B]`.
  """
  size = tf.shape(data_features)[-1]
  precision = tf.matmul(data_features, data_features, transpose_a=True)
  precision += prior_precision * tf.eye(size, dtype=features.dtype)
  solved = tf.linalg.solve(precision, tf.transpose(features))  # [d, B]
  return tf.sqrt(tf.reduce_sum(tf.transpose(features) * solved, axis=0))
