"""Layers of M members side by side, on stacked variables.

Between layers the members travel as a list of M tensors `[R, width]` (rows,
features). Kernels are stored stacked, `[M, in, out]`; a layer takes them apart
to multiply, because two-dimensional products let TensorFlow fuse the bias and
the activation into the product, which one batched product does not.
"""
import math
from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf

from drvf_tf.networks import row_division

Members = list[tf.Tensor]


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
      norm: Normalisation of the inputs, which come divided already, to be
        folded into the kernels.
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

  def fold_into_kernel(self, norm: Any) -> None:
    """Sets what is folded into the kernels; it need have `fold` alone."""
    self._norm = norm

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
      kernel, offset = self._norm.fold(kernel)
      bias = bias + offset[:, 0]
    return [
        self._activation(tf.nn.bias_add(tf.matmul(x, kernel_j), bias_j))
        for x, kernel_j, bias_j in zip(inputs, tf.unstack(kernel),
                                       tf.unstack(bias))
    ]


class EnsembleDivision(tf.keras.layers.Layer):
  """The first half of M layer normalisations: x / std for each row."""

  def __init__(self,
               rectify: bool = False,
               epsilon: float = 1e-5,
               name: Optional[str] = None):
    """Creates the layer.

    Args:
      rectify: Whether x is relu(input), not the input itself.
      epsilon: Added to the variance.
      name: Name of the layer.
    """
    super().__init__(name=name)
    self._rectify = rectify
    self._epsilon = epsilon

  def call(self, inputs: Sequence[tf.Tensor]) -> Members:
    """Divides every row of every member."""
    return [row_division.divide_by_std(x, self._epsilon, self._rectify)
            for x in inputs]


class EnsembleLayerNorm(tf.keras.layers.Layer):
  """The second half of M layer normalisations, with affine parameters.

  y = (x − mean) / std · scale + offset for each row, where x / std is given
  (`EnsembleDivision`). What follows a normalisation is a product, y·K, and
  all of it but the division is linear:

    y·K = (x / std)·(scale·K − its mean over the inputs) + offset·K.

  So a layer that multiplies folds this half into its kernel (`fold`), which
  is small: on a CPU every pass over the rows counts.
  """

  def __init__(self, num_members: int, width: int, name: Optional[str] = None):
    super().__init__(name=name)
    shape = [num_members, width]
    self.scale = self.add_weight('scale', shape, initializer='ones')
    self.offset = self.add_weight('offset', shape, initializer='zeros')

  def call(self, inputs: Sequence[tf.Tensor]) -> Members:
    """y of every member, from its x / std."""
    return [
        (x - tf.reduce_mean(x, axis=-1, keepdims=True)) * scale + offset
        for x, scale, offset in zip(inputs, tf.unstack(self.scale),
                                    tf.unstack(self.offset))
    ]

  def fold(self, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """What y·kernel is in terms of x / std.

    Args:
      kernel: `[M, width, out]`.

    Returns:
      (kernel `[M, width, out]`, offset `[M, 1, out]`), so that
      y·kernel = (x / std)·kernel + offset.
    """
    folded = self.scale[..., tf.newaxis] * kernel
    folded -= tf.reduce_mean(folded, axis=1, keepdims=True)
    return folded, tf.matmul(self.offset[:, tf.newaxis], kernel)
