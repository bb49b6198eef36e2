"""Heads of the critic: from features ψ(s, a) to samples of Q.

ψ comes as members `[B, d]`, in either form of `ensemble_layers`; Q samples are
`[M, B, n]` (see `networks/q_values.py`). A head has d weights and a bias, which
is the weight of a constant feature 1.

Where the last hidden layer is normalised, ψ comes divided by its standard
deviation, with the normalisation that is still to be folded into the weights.
"""
import functools
import math
from collections.abc import Sequence
from typing import Optional

import gin
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.networks import ensemble_layers
from drvf_tf.networks import noise as noise_lib

tfd = tfp.distributions
Members = ensemble_layers.Members
Norm = ensemble_layers.EnsembleLayerNorm


@gin.configurable
class BayesianHead(tf.keras.layers.Layer):
  """M Bayesian last layers in stock `DenseReparameterization` layers.

  A stock layer's posterior is a diagonal Gaussian over `[M, d, 1]`. Its tensor
  function draws n weight vectors for all members at once, so that the layer's
  own `tf.matmul([M, B, d], [M, d, n])` serves all draws; member by member it is
  called with one member's, `[d, n]`, for to stack ψ would copy it, and its
  gradient back. The bias is one weight more in the same posterior, that of the
  constant feature 1: the stock layer's own bias cannot differ between members.
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
    # What a stock layer multiplies next, set by `_multiply`: the layer's own
    # call takes features only.
    self._kernel: Optional[tf.Tensor] = None
    self._weights = tfp.layers.DenseReparameterization(
        units=1,
        kernel_posterior_fn=functools.partial(self._posterior, seed),
        kernel_posterior_tensor_fn=self._own_kernel,
        kernel_prior_fn=self._prior,
        kernel_divergence_fn=None,  # once a step is enough: `kl_divergence`
        bias_posterior_fn=None,
        dtype=tf.float32,
        name='weights')

  def _posterior(self, seed, dtype, shape, name, trainable, add_variable_fn):
    add_weight = add_variable_fn.__self__.add_weight  # its name in Keras now
    shape = self._with_bias(shape)
    loc = add_weight(
        name=f'{name}_loc', shape=shape, dtype=dtype, trainable=trainable,
        initializer=tf.keras.initializers.RandomUniform(
            -self._mean_range, self._mean_range, seed=seed))
    rho = add_weight(
        name=f'{name}_rho', shape=shape, dtype=dtype, trainable=trainable,
        initializer=tf.keras.initializers.Constant(self._initial_rho))
    scale = tfp.util.DeferredTensor(rho, tf.math.softplus)
    return tfd.Independent(tfd.Normal(loc, scale), 2)  # batch [M]

  def _prior(self, dtype, shape, name, trainable, add_variable_fn):
    del name, trainable, add_variable_fn
    zeros = tf.zeros(self._with_bias(shape), dtype)
    return tfd.Independent(tfd.Normal(zeros, 1.0), 2)

  def _with_bias(self, shape: Sequence[int]) -> list[int]:
    """Of a stock kernel `[d, 1]`: `[M, d + 1, 1]`, the bias last."""
    return [self._num_members, shape[0] + 1, shape[1]]

  def _own_kernel(self, posterior):
    del posterior  # `sample` drew from it, for all members at once
    return self._kernel

  def _draw(self, loc: tf.Tensor, scale: tf.Tensor,
            noise: tf.Tensor) -> tf.Tensor:
    """Weights and biases `[M, d + 1, n]`, from noise of that shape."""
    return loc + scale * noise

  def _multiply(self, features: Members, kernels: tf.Tensor) -> tf.Tensor:
    """The stock layer on ψ: `[M, B, n]`."""
    def product(rows: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
      self._kernel = kernel
      return self._weights(rows)

    return ensemble_layers.stack(
        ensemble_layers.each(product, features, kernels))

  def sample(self,
             features: Members,
             num_samples: int = 1,
             seed: Optional[tf.Tensor] = None,
             norm: Optional[ensemble_layers.Folded] = None) -> tf.Tensor:
    """Draws n weight vectors per member, shared by all rows.

    Args:
      features: ψ, members `[B, d]`.
      num_samples: n.
      seed: Stateless seed of the draws, int32 `[2]`; None draws afresh.
      norm: Normalisation that is still to be folded into the weights.

    Returns:
      ψᵀw + b, `[M, B, n]`.
    """
    self._build(features)
    loc, scale = self._loc_and_scale()
    shape = [*loc.shape[:2], num_samples]
    noise = (tf.random.normal(shape) if seed is None
             else noise_lib.standard_normal(shape, seed))
    # The bias needs no product: its feature is 1.
    weights, bias = tf.split(
        self._draw(loc, scale, noise), [loc.shape[1] - 1, 1], axis=1)
    if norm is not None:
      weights, offset = norm.fold(weights)
      bias += offset
    return self._multiply(features, weights) + bias

  def _build(self, features: Members) -> None:
    if not self._weights.built:
      self._weights.build(ensemble_layers.row_shape(features))

  def moments(self, features: Members, norm: Optional[Norm] = None
              ) -> tuple[tf.Tensor, tf.Tensor]:
    """Closed-form mean and variance of ψᵀw + b, `[M, B]` each."""
    loc, scale = self._loc_and_scale()
    sizes = [loc.shape[1] - 1, 1]
    (kernel, bias), (roots, bias_root) = (
        tf.split(values, sizes, axis=1) for values in (loc, scale))
    if norm is None:
      mean = ensemble_layers.multiply(features, kernel)
      variance = ensemble_layers.square_sums(features, roots)
    else:
      mean, variance = norm.products(features, kernel, roots)
    return (tf.squeeze(mean + bias, 2),
            tf.squeeze(variance + tf.square(bias_root), 2))

  def kl_divergence(self) -> tf.Tensor:
    """KL(q(w_j) || N(0, I)) per member, `[M]`: the stock layer's own prior."""
    return tfd.kl_divergence(
        self._weights.kernel_posterior, self._weights.kernel_prior)

  def posterior_std(self) -> tf.Tensor:
    """σ of every weight and, last, of the bias: `[M, d + 1]`."""
    return tf.squeeze(self._loc_and_scale()[1], 2)

  def _loc_and_scale(self) -> tuple[tf.Tensor, tf.Tensor]:
    """μ and σ of every weight and, last, of the bias: `[M, d + 1, 1]`."""
    gaussian = self._weights.kernel_posterior.distribution
    return (tf.convert_to_tensor(gaussian.loc),
            tf.convert_to_tensor(gaussian.scale))


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

  def build(self, input_shape: tf.TensorShape) -> None:
    """Creates the stacked weights and biases."""
    uniform = functools.partial(
        tf.keras.initializers.RandomUniform, -self._mean_range,
        self._mean_range)
    seed = self._seed
    self.kernel = self.add_weight(
        'kernel', [self._num_members, input_shape[-1], 1],
        initializer=uniform(seed=seed))
    self.bias = self.add_weight(
        'bias', [self._num_members, 1, 1],
        initializer=uniform(seed=None if seed is None else ~seed))
    super().build(input_shape)

  def sample(self,
             features: Members,
             num_samples: int = 1,
             seed: Optional[tf.Tensor] = None,
             norm: Optional[ensemble_layers.Folded] = None) -> tf.Tensor:
    """Q of every member, `[M, B, n]`: there is nothing to draw."""
    del seed
    if not self.built:
      self.build(ensemble_layers.row_shape(features))
    kernels, offset = norm.fold(self.kernel) if norm else (self.kernel, 0.0)
    q = ensemble_layers.multiply(features, kernels) + (offset + self.bias)
    return tf.repeat(q, num_samples, axis=-1)

  def moments(self, features: Members, norm: Optional[Norm] = None
              ) -> tuple[tf.Tensor, tf.Tensor]:
    """Q of every member, and variance 0, `[M, B]` each."""
    mean = self.sample(features, norm=norm)[..., 0]
    return mean, tf.zeros_like(mean)

  def kl_divergence(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros([self._num_members])

  def posterior_std(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros([self._num_members, self.kernel.shape[1] + 1])
