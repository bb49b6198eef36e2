"""Heads of the critic: from features ψ(s, a) to samples of Q.

ψ comes as a list of M tensors `[B, d]`, one for each member; Q samples are
`[M, B, n]` (see `networks/q_values.py`). A head has d weights and a bias, which
is the weight of a constant feature 1.
"""
import functools
import math
from typing import Callable, Optional

import gin
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.networks import ensemble_layers

tfd = tfp.distributions
Members = ensemble_layers.Members
# Kernels `[M, d, n]` to (kernels, offset `[M, 1, n]`).
Fold = Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]


@gin.configurable
class BayesianHead(tf.keras.layers.Layer):
  """M Bayesian last layers in stock `DenseReparameterization` layers.

  A stock layer's posterior is a diagonal Gaussian over `[M, d, 1]`. Its tensor
  function draws n weight vectors for all members at once and gives one
  member's, `[d, n]`, at each call, so that the layer's own
  `tf.matmul([B, d], [d, n])` serves all draws: to stack ψ for one product of
  all members would copy it, and its gradient back. The bias is a second such
  layer on the constant feature 1: the stock layer's own bias cannot differ
  between members, and to append the 1 to ψ would copy ψ.
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
    self._weights = self._stock_layer('weights', seed)
    self._bias = self._stock_layer('bias', None if seed is None else ~seed)

  def _stock_layer(self, name: str,
                   seed: Optional[int]) -> tf.keras.layers.Layer:
    return tfp.layers.DenseReparameterization(
        units=1,
        kernel_posterior_fn=functools.partial(self._posterior, seed),
        kernel_posterior_tensor_fn=self._own_kernel,
        kernel_prior_fn=self._prior,
        bias_posterior_fn=None,
        dtype=tf.float32,
        name=name)

  def _posterior(self, seed, dtype, shape, name, trainable, add_variable_fn):
    add_weight = add_variable_fn.__self__.add_weight  # its name in Keras now
    shape = [self._num_members, *shape]  # [M, d, 1]
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
    zeros = tf.zeros([self._num_members, *shape], dtype)
    return tfd.Independent(tfd.Normal(zeros, 1.0), 2)

  def _own_kernel(self, posterior):
    del posterior  # `_multiply` drew from it for all members
    return self._kernel

  def _draw(self, posterior, num_samples, seed):
    draws = posterior.sample(num_samples, seed=seed)
    return tf.transpose(draws[..., 0], [1, 2, 0])  # [n, M, d] -> [M, d, n]

  def _multiply(self, layer: tf.keras.layers.Layer, features: Members,
                num_samples: int, seed: Optional[tf.Tensor],
                fold: Optional[Fold] = None) -> tf.Tensor:
    """Member by member, the stock layer on ψ: `[M, B, n]`."""
    if not layer.built:
      layer.build(features[0].shape)
    kernels = self._draw(layer.kernel_posterior, num_samples, seed)
    kernels, offset = fold(kernels) if fold else (kernels, 0.0)
    products = []
    for rows, kernel in zip(features, tf.unstack(kernels)):
      self._kernel = kernel
      products.append(layer(rows))
    return tf.stack(products) + offset

  def sample(self,
             features: Members,
             num_samples: int = 1,
             seed: Optional[tf.Tensor] = None,
             fold: Optional[Fold] = None) -> tf.Tensor:
    """Draws n weight vectors per member, shared by all rows.

    Args:
      features: ψ, M tensors `[B, d]`, or what `fold` wants in its place.
      num_samples: n.
      seed: Stateless seed of the draws, int32 `[2]`; None draws afresh.
      fold: Normalisation that is still to be folded into the weights; see
        `EnsembleLayerNorm`.

    Returns:
      ψᵀw + b from the two stock layers, `[M, B, n]`.
    """
    seeds = (None, None)
    if seed is not None:
      seeds = tf.unstack(tf.random.experimental.stateless_split(seed, 2))
    self.built = True  # its variables are the stock layers'
    one = [tf.ones([1, 1])] * self._num_members
    return (self._multiply(self._weights, features, num_samples, seeds[0], fold)
            + self._multiply(self._bias, one, num_samples, seeds[1]))

  def moments(self, features: Members) -> tuple[tf.Tensor, tf.Tensor]:
    """Closed-form mean and variance of ψᵀw + b, `[M, B]` each."""
    weights, bias = self._posteriors()
    mean, variance = (
        tf.stack([tf.matmul(rows, kernel)
                  for rows, kernel in zip(members, tf.unstack(moment))])
        for members, moment in (
            (features, weights.mean()),
            ([tf.square(rows) for rows in features], weights.variance())))
    return ((mean + bias.mean())[..., 0],
            (variance + bias.variance())[..., 0])

  def kl_divergence(self) -> tf.Tensor:
    """KL(q(w_j) || N(0, I)) per member, `[M]`, from the layers' own losses.

    A stock layer adds its divergence whenever it is called; calling it on no
    rows gives a tensor of the present graph, never one of an earlier trace.
    """
    size = self._posteriors()[0].event_shape[0]
    no_rows = [tf.zeros([0, size])] * self._num_members
    self.sample(no_rows, seed=tf.zeros([2], tf.int32))
    return self._weights.losses[-1] + self._bias.losses[-1]

  def posterior_std(self) -> tf.Tensor:
    """σ of every weight and, last, of the bias: `[M, d + 1]`."""
    return tf.concat([p.stddev()[..., 0] for p in self._posteriors()], axis=1)

  def _posteriors(self):
    return self._weights.kernel_posterior, self._bias.kernel_posterior


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
             fold: Optional[Fold] = None) -> tf.Tensor:
    """Q of every member, `[M, B, n]`: there is nothing to draw."""
    del seed
    if not self.built:
      self.build(features[0].shape)
    kernels, offset = fold(self.kernel) if fold else (self.kernel, 0.0)
    q = tf.stack([tf.matmul(rows, kernel) for rows, kernel in
                  zip(features, tf.unstack(kernels))]) + offset + self.bias
    return tf.repeat(q, num_samples, axis=-1)

  def moments(self, features: Members) -> tuple[tf.Tensor, tf.Tensor]:
    """Q of every member, and variance 0, `[M, B]` each."""
    mean = self.sample(features)[..., 0]
    return mean, tf.zeros_like(mean)

  def kl_divergence(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros([self._num_members])

  def posterior_std(self) -> tf.Tensor:
    """Zero: there is no posterior."""
    return tf.zeros([self._num_members, self.kernel.shape[1] + 1])
