"""UWAC (Wu et al., 2021): weights by uncertainty, and BEAR's MMD constraint."""
from typing import Callable

import gin
import tensorflow as tf

# (x `[..., act]`, y `[..., act]`) to `[...]`
Kernel = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def uncertainty_weight(variance: tf.Tensor, beta: float) -> tf.Tensor:
  """exp(−β Var), a constant in [0, 1]: `[B]` to `[B]`."""
  return tf.stop_gradient(tf.exp(-beta * variance))


@gin.configurable
def gaussian_kernel(x: tf.Tensor, y: tf.Tensor,
                    sigma: float = 20.0) -> tf.Tensor:
  """exp(−|x − y|² / 2σ)."""
  distance = tf.reduce_sum(tf.math.squared_difference(x, y), axis=-1)
  return tf.exp(-distance / (2.0 * sigma))


@gin.configurable
def laplacian_kernel(x: tf.Tensor, y: tf.Tensor,
                     sigma: float = 20.0) -> tf.Tensor:
  """exp(−|x − y|₁ / 2σ)."""
  return tf.exp(-tf.reduce_sum(tf.abs(x - y), axis=-1) / (2.0 * sigma))


def mmd(x: tf.Tensor, y: tf.Tensor, kernel: Kernel) -> tf.Tensor:
  """BEAR, Eq. (4): √(mean k(x, x) − 2 mean k(x, y) + mean k(y, y)).

  Args:
    x: Samples, `[K, B, act]`.
    y: Samples, `[L, B, act]`.
    kernel: k.

  Returns:
    Maximum mean discrepancy of each row, `[B]`.
  """
  def mean(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    pairs = kernel(a[:, tf.newaxis], b[tf.newaxis])  # [K, L, B]
    return tf.reduce_mean(pairs, axis=[0, 1])

  # The constant keeps the gradient finite where the samples coincide.
  return tf.sqrt(mean(x, x) - 2.0 * mean(x, y) + mean(y, y) + 1e-6)


def weighted_objective(value: tf.Tensor, weight: tf.Tensor,
                       excess: tf.Tensor, dual: tf.Tensor,
                       warming_up: tf.Tensor) -> tf.Tensor:
  """UWAC's actor: −w Q(s, π(s)) + α (MMD − ε); the last alone at first.

  Args:
    value: Q(s, π(s)), `[B]`.
    weight: w, `[B]`.
    excess: MMD − ε, `[B]`.
    dual: α, a scalar.
    warming_up: Whether the value is to be left out yet, a scalar.

  Returns:
    `[B]`.
  """
  constraint = dual * excess
  return tf.where(warming_up, constraint, constraint - weight * value)


def dual_objective(log_dual: tf.Tensor, excess: tf.Tensor) -> tf.Tensor:
  """−α (MMD − ε): α rises where the constraint is broken, `[B]`."""
  return -tf.exp(log_dual) * tf.stop_gradient(excess)


def vae_loss(decoded: tf.Tensor, actions: tf.Tensor, mean: tf.Tensor,
             std: tf.Tensor) -> tf.Tensor:
  """The behaviour VAE: (â − a)² + ½ KL(N(μ, σ²) | N(0, I)), means: `[B]`.

  Args:
    decoded: â, `[B, act]`.
    actions: a, `[B, act]`.
    mean: μ of the latent, `[B, latent]`.
    std: σ of the latent, `[B, latent]`.

  Returns:
    Mean over action dimensions plus half the mean over latent ones, `[B]`.
  """
  error = tf.reduce_mean(tf.math.squared_difference(decoded, actions), axis=-1)
  kl = 0.5 * tf.reduce_mean(
      tf.square(mean) + tf.square(std) - 1.0 - 2.0 * tf.math.log(std), axis=-1)
  return error + 0.5 * kl
