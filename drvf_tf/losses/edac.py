"""EDAC (An et al., 2021): ensembles whose action gradients differ."""

import gin
import tensorflow as tf

from drvf_tf.losses import regularizers as base


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


def drawn_members(members: int, size: int, seed: tf.Tensor) -> tf.Tensor:
  """Whose gradients are compared: min(M, dim A) members, at least two.

  More directions than dim A cannot all differ: EDAC's code compares no more
  members than that.

  Args:
    members: M.
    size: dim A.
    seed: Stateless seed, `[2]`.

  Returns:
    Their numbers, int32.
  """
  return tf.random.experimental.stateless_shuffle(
      tf.range(members), seed)[:min(members, max(size, 2))]


@gin.configurable
class GradientDiversity(base.Regularizer):
  """EDAC: members' ∂Q/∂a at the data's actions shall not be parallel."""

  name = 'gradient_similarity'

  def __init__(self, eta: float = 1.0):
    """Creates it.

    Args:
      eta: η of EDAC.
    """
    if eta < 0:
      raise ValueError(f'eta must not be negative, not {eta}.')
    self._eta = eta

  @property
  def eta(self) -> float:
    """η."""
    return self._eta

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """η · similarity of `drawn_members`, drawn anew at each step.

    Args:
      context: The batch and the networks.
      seen: Not used.

    Returns:
      (weighted loss, bare value), `[B]` each.
    """
    del seen
    gradients = context.critic.action_gradients(
        (context.observations, context.actions))  # [M, B, act]
    members, _, size = gradients.shape
    similarity = gradient_similarity(tf.gather(
        gradients, drawn_members(members, size, context.draws.seed())))
    return self._eta * similarity, similarity
