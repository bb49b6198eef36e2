"""Spectral normalisation of stacked kernels."""
import tensorflow as tf


class SpectralNorm:
  """W / σ(W), folded into a kernel as layer normalisation is.

  σ, the largest singular value, is found by power iteration from a fixed
  start: there is no state to keep or to restore.
  """

  def __init__(self, iterations: int = 8):
    """Creates it.

    Args:
      iterations: Of the power iteration.
    """
    self._iterations = iterations

  def fold(self, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """(kernel / σ, no offset) of `[M, in, out]`; see `EnsembleLayerNorm`."""
    sigma = largest_singular_value(kernel, self._iterations)
    return kernel / sigma, tf.zeros_like(kernel[:, :1])


def largest_singular_value(kernel: tf.Tensor, iterations: int) -> tf.Tensor:
  """σ = uᵀ W v of each kernel `[M, in, out]`, `[M, 1, 1]`.

  The gradient flows through W alone, as if u and v were given.

  Args:
    kernel: W.
    iterations: Of the power iteration that finds u and v.

  Returns:
    σ.
  """
  fixed = tf.stop_gradient(kernel)
  v = tf.ones_like(fixed[:, :1])  # [M, 1, out]
  for _ in range(iterations):
    u = _unit(tf.matmul(v, fixed, transpose_b=True))  # [M, 1, in]
    v = _unit(tf.matmul(u, fixed))
  return tf.matmul(tf.matmul(u, kernel), v, transpose_b=True)


def _unit(vectors: tf.Tensor) -> tf.Tensor:
  return tf.math.l2_normalize(vectors, axis=-1)
