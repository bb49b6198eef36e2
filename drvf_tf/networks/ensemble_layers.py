"""Layers of M members side by side, on stacked variables.

Between layers the members travel as a list of M tensors `[R, width]` (rows,
features). Kernels are stored stacked, `[M, in, out]`; a layer takes them apart
to multiply, because two-dimensional products let TensorFlow fuse the bias and
the activation into the product, which one batched product does not.
"""
import math
from typing import List, Optional, Sequence, Tuple

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
               norm: Optional['EnsembleLayerNorm'] = None,
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
      norm: Normalisation of the inputs, which is folded into the kernels.
      seed: Of the initial kernels.
      name: Name of the layer.
    """
    super().__init__(name=name)
    self._num_members = num_members
    self._units = units
    self._activation = tf.keras.activations.get(activation)
    self._bias_value = bias_value
    self._l2 = l2
    self._norm = norm
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
    kernel, bias = self.kernel, self.bias
    if self._norm is not None:
      inputs = self._norm.scaled(inputs)
      kernel, offset = self._norm.fold(kernel)
      bias = bias + offset[:, 0]
    return [
        self._activation(tf.nn.bias_add(tf.matmul(x, kernel_j), bias_j))
        for x, kernel_j, bias_j in zip(inputs, tf.unstack(kernel),
                                       tf.unstack(bias))
    ]


class EnsembleLayerNorm(tf.keras.layers.Layer):
  """M layer normalisations, each with its own affine parameters.

  y = (x − mean) / std · scale + offset for each row. What follows a
  normalisation is a product, y·K, and all of it but the division is linear:

    y·K = (x / std)·(scale·K − its mean over the inputs) + offset·K.

  So a layer that multiplies divides the rows (`scaled`) and folds the rest
  into its kernel (`fold`), which is small: on a CPU every pass over the rows
  counts.
  """

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
    """Normalises every row of every member: y itself."""
    return [
        (x - tf.reduce_mean(x, axis=-1, keepdims=True)) * scale + offset
        for x, scale, offset in zip(self.scaled(inputs),
                                    tf.unstack(self.scale),
                                    tf.unstack(self.offset))
    ]

  def scaled(self, inputs: Sequence[tf.Tensor]) -> Members:
    """x / std of every row of every member."""
    if not self.built:
      self.build([x.shape for x in inputs])
    return [divide_by_std(x, self._epsilon) for x in inputs]

  def fold(self, kernel: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """What y·kernel is in terms of `scaled`.

    Args:
      kernel: `[M, width, out]`.

    Returns:
      (kernel `[M, width, out]`, offset `[M, 1, out]`), so that
      y·kernel = scaled·kernel + offset.
    """
    folded = self.scale[..., tf.newaxis] * kernel
    folded -= tf.reduce_mean(folded, axis=1, keepdims=True)
    return folded, tf.matmul(self.offset[:, tf.newaxis], kernel)


def divide_by_std(rows: tf.Tensor, epsilon: float) -> tf.Tensor:
  """Each row of `[R, width]` divided by its standard deviation.

  The gradient is written out, and row means are taken by a product with a
  vector, because that halves what `tf.nn.moments` costs on a CPU. The gradient
  takes its statistics from the rows again: a graph computes them once all the
  same, and the gradient can itself be differentiated.

  Args:
    rows: `[R, width]`.
    epsilon: Added to the variance.

  Returns:
    `[R, width]`.
  """
  averager = tf.fill([rows.shape[-1], 1],
                     tf.cast(1.0 / rows.shape[-1], rows.dtype))  # [width, 1]

  def statistics(x):
    mean = tf.matmul(x, averager)
    variance = tf.matmul(tf.square(x), averager) - tf.square(mean)
    return mean, tf.math.rsqrt(tf.nn.relu(variance) + epsilon)  # [R, 1] each

  @tf.custom_gradient
  def divided(x):
    def gradient(dy):
      mean, inverse = statistics(x)
      slope = tf.square(inverse) * tf.matmul(dy * x, averager)  # [R, 1]
      return inverse * (dy - slope * (x - mean))

    return x * statistics(x)[1], gradient

  return divided(rows)
