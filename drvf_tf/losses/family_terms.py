"""Terms of the other methods of the family, each a pure function."""
import math

import gin
import tensorflow as tf

from drvf_tf.losses import statistics


def gradient_similarity(gradients: tf.Tensor) -> tf.Tensor:
  """EDAC (An et al., 2021), Eq. (8): cosines between members' ∂Q/∂a.

  The sum over ordered pairs of members divided by their number less one, as
  in EDAC's code.

  Args:
    gradients: ∂Q_j/∂a, `[N, B, act]`.

  Returns:
    `[B]`.
  """
  # A gradient of zero has no direction; the norm's slope there is finite.
  square = tf.reduce_sum(tf.square(gradients), axis=-1, keepdims=True)
  unit = gradients / tf.sqrt(square + 1e-20)
  total = tf.reduce_sum(unit, axis=0)  # [B, act]
  # Σ_{i≠j} g_i·g_j = |Σ g|² − Σ |g|².
  pairs = (tf.reduce_sum(tf.square(total), axis=-1)
           - tf.reduce_sum(tf.square(unit), axis=[0, 2]))
  return pairs / (tf.cast(tf.shape(gradients)[0], pairs.dtype) - 1.0)


def pessimistic_regression(q: tf.Tensor, weight: tf.Tensor,
                           floor: float) -> tf.Tensor:
  """PBRL (Bai et al., 2022), Eq. (8): (Q_j − T̂_ood Q_j)² at OOD pairs.

  T̂_ood Q_j = max(Q_j − β_ood·Std between members, floor), no gradient.

  Args:
    q: Q at OOD pairs, `[M, R]`.
    weight: β_ood of each row, `[R]`.
    floor: Pseudo-targets are not lower.

  Returns:
    Sum over members, `[R]`.
  """
  target = tf.maximum(q - weight * statistics.between_std(q), floor)
  return tf.reduce_sum(tf.square(q - tf.stop_gradient(target)), axis=0)


@gin.configurable
def ood_schedule(step: tf.Tensor,
                 start: float = 5.0,
                 knee: float = 1.0,
                 knee_step: int = 50_000,
                 end: float = 0.2,
                 end_step: int = 1_000_000) -> tf.Tensor:
  """PBRL's β_ood: a line from `start` to `knee`, then a decay to `end`.

  PBRL's code divides β_ood by 1.01 whenever Q has sunk, until 0.2; here the
  decay is exponential in the step, because a run must be a function of it.

  Args:
    step: The train step.
    start: At step 0.
    knee: At `knee_step`.
    knee_step: Where the line ends.
    end: From `end_step` on.
    end_step: Where the decay ends.

  Returns:
    A scalar.
  """
  step = tf.cast(step, tf.float32)
  line = start + (knee - start) * tf.minimum(step / knee_step, 1.0)
  along = tf.clip_by_value((step - knee_step) / (end_step - knee_step), 0., 1.)
  return tf.where(step < knee_step, line,
                  knee * tf.exp(math.log(end / knee) * along))


@gin.configurable
def constant_schedule(step: tf.Tensor, value: float = 2.0) -> tf.Tensor:
  """PBRL's β_ood on expert data: the same at every step."""
  del step
  return tf.constant(value)


def conservative_gap(q: tf.Tensor, log_density: tf.Tensor,
                     q_data: tf.Tensor) -> tf.Tensor:
  """MSG's CQL term: log Σ exp(Q_j(s, a) − log density(a)) − Q_j(data).

  Args:
    q: Q at A sampled actions of each state, `[M, A, B]`.
    log_density: Of the actions where they were sampled, `[A, B]`.
    q_data: Q at the data, `[M, B]`.

  Returns:
    Sum over members, `[B]`.
  """
  return tf.reduce_sum(
      tf.reduce_logsumexp(q - log_density, axis=1) - q_data, axis=0)
