"""Heads of the critic: from features ψ(s, a) to samples of Q.

One shape convention for the whole project: Q samples are `[M, B, n]`: members,
rows of the batch, posterior draws. ψ is `[M, B, d]` and ends with a constant 1,
so that the head's last weight is its bias.
"""
import math
from typing import NamedTuple, Optional

import gin
import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions


class QValues(NamedTuple):
  """What a head knows of Q at B state-action pairs.

  Attributes:
    samples: `[M, B, n]` draws of Q; one draw is one function, shared by all
      rows.
    mean: `[M, B]` closed-form mean over the posterior, per member.
    variance: `[M, B]` closed-form variance over the posterior, per member.
  """
  samples: tf.Tensor
  mean: tf.Tensor
  variance: tf.Tensor


@gin.configurable
class BayesianHead(tf.keras.layers.Layer):
  """M Bayesian last layers in one stock `DenseReparameterization`.

  The layer's posterior is a diagonal Gaussian over `[M, d, 1]`; its tensor
  function lays n draws out as `[M, d, n]`, so that the layer's own
  `tf.matmul([M, B, d], [M, d, n])` serves all members and all draws.
  """

  def __init__(self,
               num_members: int,
               initial_std: float = 0.05,
               mean_range: float = 3e-3,
               seed: Optional[int] = None,
               name: str = 'BayesianHead'):
    """Creates the head.

    Args:
      num_members: M.
      initial_std: What σ = softplus(ρ) starts from, for every weight.
      mean_range: μ starts uniform in ± this.
      seed: Of the initial μ.
      name: Name of the layer.
    """
    super().__init__(name=name, dtype=tf.float32)
    if initial_std <= 0:
      raise ValueError(f'initial_std must be positive, not {initial_std}.')
    self._num_members = num_members
    self._initial_rho = math.log(math.expm1(initial_std))
    self._mean_range = mean_range
    self._seed = seed
    # What the tensor function below reads: set by `call` right before the
    # stock layer runs, since the layer's own call takes features only.
    self._num_samples, self._draw_seed = 1, None
    self._layer = tfp.layers.DenseReparameterization(
        units=1,
        kernel_posterior_fn=self._posterior,
        kernel_posterior_tensor_fn=self._draw,
        kernel_prior_fn=self._prior,
        bias_posterior_fn=None,
        dtype=tf.float32)

  def _posterior(self, dtype, shape, name, trainable, add_variable_fn):
    shape = [self._num_members, *shape]  # [M, d, 1]
    loc = add_variable_fn(
        name=f'{name}_loc', shape=shape, dtype=dtype, trainable=trainable,
        initializer=tf.keras.initializers.RandomUniform(
            -self._mean_range, self._mean_range, seed=self._seed))
    rho = add_variable_fn(
        name=f'{name}_rho', shape=shape, dtype=dtype, trainable=trainable,
        initializer=tf.keras.initializers.Constant(self._initial_rho))
    scale = tfp.util.DeferredTensor(rho, tf.math.softplus)
    return tfd.Independent(tfd.Normal(loc, scale), 2)  # batch [M]

  def _prior(self, dtype, shape, name, trainable, add_variable_fn):
    del name, trainable, add_variable_fn
    zeros = tf.zeros([self._num_members, *shape], dtype)
    return tfd.Independent(tfd.Normal(zeros, 1.0), 2)

  def _draw(self, posterior):
    draws = posterior.sample(self._num_samples, seed=self._draw_seed)
    return tf.transpose(draws[..., 0], [1, 2, 0])  # [n, M, d] -> [M, d, n]

  def call(self,
           features: tf.Tensor,
           num_samples: int = 1,
           seed: Optional[tf.Tensor] = None) -> QValues:
    """Draws n weight vectors per member, shared by all rows.

    Args:
      features: ψ, `[M, B, d]`.
      num_samples: n.
      seed: Stateless seed of the draws, int32 `[2]`; None draws afresh.

    Returns:
      `QValues`.
    """
    self._num_samples, self._draw_seed = num_samples, seed
    samples = self._layer(features)  # [M, B, n]
    posterior = self._layer.kernel_posterior
    mean = tf.matmul(features, posterior.mean())[..., 0]
    variance = tf.matmul(tf.square(features), posterior.variance())[..., 0]
    return QValues(samples, mean, variance)

  def kl_divergence(self) -> tf.Tensor:
    """KL(q(w_j) || N(0, I)) per member, `[M]`, from the layer's own losses.

    The layer adds its divergence whenever it is called; calling it on no rows
    gives a tensor of the present graph, never one of an earlier trace.
    """
    self._num_samples, self._draw_seed = 1, tf.zeros([2], tf.int32)
    size = self._layer.kernel_posterior.event_shape[0]
    self._layer(tf.zeros([self._num_members, 0, size]))
    return self._layer.losses[-1]

  def posterior_std(self) -> tf.Tensor:
    """σ of every weight, `[M, d]`."""
    return self._layer.kernel_posterior.stddev()[..., 0]


@gin.configurable
class PointHead(tf.keras.layers.Layer):
  """M linear last layers without a posterior: one sample, variance 0."""

  def __init__(self,
               num_members: int,
               mean_range: float = 3e-3,
               seed: Optional[int] = None,
               name: str = 'PointHead'):
    super().__init__(name=name, dtype=tf.float32)
    self._num_members = num_members
    self._mean_range = mean_range
    self._seed = seed

  def build(self, input_shape) -> None:
    """Creates the stacked weights, bias included."""
    self.kernel = self.add_weight(
        'kernel', [self._num_members, input_shape[-1], 1],
        initializer=tf.keras.initializers.RandomUniform(
            -self._mean_range, self._mean_range, seed=self._seed))
    super().build(input_shape)

  def call(self,
           features: tf.Tensor,
           num_samples: int = 1,
           seed: Optional[tf.Tensor] = None) -> QValues:
    """Gives Q of every member; there is nothing to draw."""
    del num_samples, seed
    samples = tf.matmul(features, self.kernel)  # [M, B, 1]
    return QValues(samples, samples[..., 0], tf.zeros_like(samples[..., 0]))

  def kl_divergence(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros([self._num_members])

  def posterior_std(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros_like(self.kernel[..., 0])
