"""Terms of a dynamics model's objective, and what its spread says.

Predictions are `[M, B, D]`: members, rows, and the D numbers that a row has to
predict (the change of each observation, and the reward).
"""
from collections.abc import Sequence

import tensorflow as tf


def bound_log_variance(log_variance: tf.Tensor, low: tf.Tensor,
                       high: tf.Tensor) -> tf.Tensor:
  """low + softplus(high − softplus(high − log σ²) − low): a soft clamp.

  Args:
    log_variance: `[M, B, D]`.
    low: `[M, 1, D]`.
    high: `[M, 1, D]`.

  Returns:
    `[M, B, D]`, between the bounds but for a margin of softplus(low − high).
  """
  below = high - tf.math.softplus(high - log_variance)
  return low + tf.math.softplus(below - low)


def gaussian_error(mean: tf.Tensor, log_variance: tf.Tensor,
                   targets: tf.Tensor) -> tf.Tensor:
  """−2 log N(y; μ, σ²) − log 2π = (y − μ)² / σ² + log σ², element-wise."""
  return (tf.square(targets - mean) * tf.exp(-log_variance) + log_variance)


def model_loss(mean: tf.Tensor, log_variance: tf.Tensor, targets: tf.Tensor,
               low: tf.Tensor, high: tf.Tensor,
               bounds_weight: float) -> tf.Tensor:
  """Σ_j mean of −2 log N(y; μ_j, σ_j²) + c · mean_j Σ_d (high − low).

  Members learn side by side: none sees another's error. The bounds' term is
  of one member's size, however many there are.

  Args:
    mean: `[M, B, D]`.
    log_variance: Bounded, `[M, B, D]`.
    targets: Each member's own, `[M, B, D]`.
    low: Bounds of the log-variance, `[M, 1, D]`.
    high: `[M, 1, D]`.
    bounds_weight: c.

  Returns:
    A scalar.
  """
  errors = tf.reduce_mean(
      gaussian_error(mean, log_variance, targets), axis=[1, 2])  # [M]
  width = tf.reduce_sum(high - low, axis=[1, 2])  # [M]
  return tf.reduce_sum(errors) + bounds_weight * tf.reduce_mean(width)


def weight_decay(kernels: Sequence[tf.Tensor],
                 weights: Sequence[float]) -> tf.Tensor:
  """Σ_l λ_l / 2 · Σ kernel_l², with a λ for each layer."""
  return tf.add_n([weight * tf.nn.l2_loss(kernel)
                   for kernel, weight in zip(kernels, weights)])


def model_uncertainty(std: tf.Tensor) -> tf.Tensor:
  """MOPO's u(s, a) = max_j ‖σ_j(s, a)‖₂, the reward's σ included: `[B]`.

  Args:
    std: Of every member's prediction, in the data's own units, `[M, B, D]`.

  Returns:
    `[B]`.
  """
  return tf.reduce_max(tf.norm(std, axis=2), axis=0)
