"""Layers of M members side by side, on stacked variables.

Between layers the members travel as a list of M tensors `[R, width]` (rows,
features). Kernels are stored stacked, `[M, in, out]`; a layer takes them apart
to multiply, because two-dimensional products let TensorFlow fuse the bias and
the activation into the product, which one batched product does not.
"""
import math
from typing import List, Optional, Sequence

import tensorflow as tf

Members = List[tf.Tensor]


class EnsembleDense(tf.keras.layers.Layer):
  """M dense layers: kernels `[M, in, out]`, biases `[M, out]`."""

  def __init__(self,
               num_members: int,
               units: int,
               activation: Optional[str] = None,
               bias_value: float = 0.1,
               l2: float = 0.0,
               seed: Optional[int] = None,
               name: Optional[str] = None):
    """Creates the layer.

    Args:
      num_members: M.
      units: Width of the output.
      activation: 'relu', or None for a linear layer.
      bias_value: What the biases start from.
      l2: λ of the coupled weight decay: the loss gains λ/2·Σ kernel², whose
        gradient λ·kernel is what `torch.optim.Adam(weight_decay=λ)` adds.
      seed: Of the initial kernels.
      name: Name of the layer.
    """
    super().__init__(name=name)
    self._num_members = num_members
    self._units = units
    self._activation = tf.keras.activations.get(activation)
    self._bias_value = bias_value
    self._l2 = l2
    self._seed = seed

  def build(self, input_shape: Sequence[tf.TensorShape]) -> None:
    """Creates the stacked variables."""
    fan_in = input_shape[0][-1]
    bound = 1.0 / math.sqrt(fan_in)
    self.kernel = self.add_weight(
        'kernel', [self._num_members, fan_in, self._units],
        initializer=tf.keras.initializers.RandomUniform(
            -bound, bound, seed=self._seed),
        regularizer=tf.keras.regularizers.L2(self._l2 / 2)
        if self._l2 else None)
    self.bias = self.add_weight(
        'bias', [self._num_members, self._units],
        initializer=tf.keras.initializers.Constant(self._bias_value))
    super().build(input_shape)

  def call(self, inputs: Sequence[tf.Tensor]) -> Members:
    """Applies member j to the rows of member j."""
    return [
        self._activation(tf.nn.bias_add(tf.matmul(x, kernel), bias))
        for x, kernel, bias in zip(inputs, tf.unstack(self.kernel),
                                   tf.unstack(self.bias))
    ]


class EnsembleLayerNorm(tf.keras.layers.Layer):
  """M layer normalisations, each with its own affine parameters."""

  def __init__(self,
               num_members: int,
               epsilon: float = 1e-5,
               name: Optional[str] = None):
    super().__init__(name=name)
    self._num_members = num_members
    self._epsilon = epsilon

  def build(self, input_shape: Sequence[tf.TensorShape]) -> None:
    """Creates the stacked scale and offset."""
    shape = [self._num_members, input_shape[0][-1]]
    self.scale = self.add_weight('scale', shape, initializer='ones')
    self.offset = self.add_weight('offset', shape, initializer='zeros')
    super().build(input_shape)

  def call(self, inputs: Sequence[tf.Tensor]) -> Members:
    """Normalises every row of every member."""
    return [
        normalize(x, self._epsilon) * scale + offset for x, scale, offset in
        zip(inputs, tf.unstack(self.scale), tf.unstack(self.offset))
    ]


def normalize(rows: tf.Tensor, epsilon: float) -> tf.Tensor:
  """Each row of `[R, width]` to mean 0 and variance 1.

  The gradient is written out, and row means are taken by a product with a
  vector, because that halves what `tf.nn.moments` costs on a CPU.

  Args:
    rows: `[R, width]`.
    epsilon: Added to the variance.

  Returns:
    `[R, width]`.
  """

  @tf.custom_gradient
  def normalized(x):
    averager = tf.fill([x.shape[-1], 1],
                       tf.cast(1.0 / x.shape[-1], x.dtype))  # [width, 1]
    centred = x - tf.matmul(x, averager)
    inverse_std = tf.math.rsqrt(
        tf.matmul(tf.square(centred), averager) + epsilon)  # [R, 1]
    y = centred * inverse_std

    def gradient(dy):
      mean_dy = tf.matmul(dy, averager)
      mean_dy_y = tf.matmul(dy * y, averager)
      return inverse_std * (dy - mean_dy - y * mean_dy_y)

    return y, gradient

  return normalized(rows)
