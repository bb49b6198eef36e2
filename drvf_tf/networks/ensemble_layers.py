"""Layers of M members side by side, on stacked variables.

Between layers the members travel in one of two forms, which every layer takes
and gives back: a list of M tensors `[R, width]` (rows, features), or one tensor
`[M, R, width]`; `[1, R, width]` are rows that all members share. Kernels are
stored stacked, `[M, in, out]`, for both.

Member by member, TensorFlow fuses the bias and the activation into a product,
which is what counts where products are large. Stacked, the number of operations
does not grow with M, which is what counts where each has to be started: on an
accelerator, or on a CPU with small layers. `EnsembleCriticNetwork` chooses.
"""
import math
from collections.abc import Sequence
from typing import Callable, Optional, Protocol, Union

import tensorflow as tf

from drvf_tf.networks import row_division

Members = Union[list[tf.Tensor], tf.Tensor]


class Folded(Protocol):
  """A linear map of a layer's inputs that its kernel takes over."""

  def fold(self, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """`[M, in, out]` to (kernel `[M, in, out]`, offset `[M, 1, out]`)."""


def each(function: Callable[..., tf.Tensor], members: Members,
         *parts: tf.Tensor) -> Members:
  """Applies `function` to every member, or to the stack at once.

  Args:
    function: Of a member's rows `[R, width]` and its part of each of `parts`,
      which works on stacks of both as well.
    members: In either form.
    *parts: Members, or `[M, ...]` to be taken apart where `members` are.

  Returns:
    In the form of `members`.
  """
  if not isinstance(members, list):
    return function(members, *parts)
  return [function(*own) for own in zip(members, *(
      part if isinstance(part, list) else tf.unstack(part) for part in parts))]


def multiply(members: Members, kernels: tf.Tensor) -> tf.Tensor:
  """Each member's rows times its kernel `[in, out]`: `[M, R, out]`."""
  return stack(each(tf.matmul, members, kernels))


def square_sums(members: Members, roots: tf.Tensor) -> tf.Tensor:
  """Σ (x·roots)² over each member's columns: `[M, R, 1]`.

  Args:
    members: `[R, width]` each, in either form.
    roots: `[M, width, 1]`.

  Returns:
    `[M, R, 1]`.
  """
  return stack(each(lambda x, root: row_division.squares(x * root), members,
                    tf.linalg.matrix_transpose(roots)))


def stack(members: Members) -> tf.Tensor:
  """`[M, R, width]`, whatever the form."""
  return tf.stack(members) if isinstance(members, list) else members


def row_shape(members: Members) -> tf.TensorShape:
  """Of one member's rows, `[R, width]`."""
  return members[0].shape if isinstance(members, list) else members.shape[1:]


def bias_initializer(
    value: float, spread: float,
    seed: Optional[int]) -> tf.keras.initializers.Initializer:
  """Biases that are all alike, or uniform in ± `spread` around a value.

  The ReLUs of a first layer bend where kernel·x = −bias: alike, all of them
  pass close by the mean of the data; apart, they are spread over the data.

  Args:
    value: Of the biases.
    spread: 0 for biases that are alike.
    seed: Of the layer.

  Returns:
    The initializer.
  """
  if spread < 0:
    raise ValueError(f'input_bias_range must not be negative, not {spread}.')
  if not spread:
    return tf.keras.initializers.Constant(value)
  return tf.keras.initializers.RandomUniform(
      value - spread, value + spread, seed=None if seed is None else ~seed)


class EnsembleDense(tf.keras.layers.Layer):
  """M dense layers: kernels `[M, in, out]`, biases `[M, out]`."""

  def __init__(self,
               num_members: int,
               units: int,
               activation: Optional[str] = None,
               bias_value: float = 0.1,
               bias_range: float = 0.0,
               l2: float = 0.0,
               norm: Optional[Folded] = None,
               seed: Optional[int] = None,
               name: Optional[str] = None):
    """Creates the layer.

    Args:
      num_members: M.
      units: Width of the output.
      activation: 'relu', or None for a linear layer.
      bias_value: What the biases start from.
      bias_range: They start uniform in ± this around it.
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
    self._biases = bias_initializer(bias_value, bias_range, seed)
    self._l2 = l2
    self._norm = norm
    self._seed = seed

  def fold_into_kernel(self, norm: Folded) -> None:
    """Sets what is folded into the kernels."""
    self._norm = norm

  def build(self, input_shape: Union[tf.TensorShape,
                                     Sequence[tf.TensorShape]]) -> None:
    """Creates the stacked variables."""
    one = input_shape[0] if isinstance(input_shape, list) else input_shape
    fan_in = one[-1]
    bound = 1.0 / math.sqrt(fan_in)
    self.kernel = self.add_weight(
        'kernel', [self._num_members, fan_in, self._units],
        initializer=tf.keras.initializers.RandomUniform(
            -bound, bound, seed=self._seed),
        regularizer=tf.keras.regularizers.L2(self._l2 / 2)
        if self._l2 else None)
    self.bias = self.add_weight(
        'bias', [self._num_members, self._units],
        initializer=self._biases)
    super().build(input_shape)

  def call(self, inputs: Members) -> Members:
    """Applies member j to the rows of member j."""
    kernel = tf.convert_to_tensor(self.kernel)
    bias = tf.expand_dims(self.bias, 1)  # [M, 1, out]
    if self._norm is not None:
      kernel, offset = self._norm.fold(kernel)
      bias += offset
    if isinstance(inputs, list):
      return each(
          lambda x, kernel_j, bias_j: self._activation(
              tf.nn.bias_add(tf.matmul(x, kernel_j), bias_j)),
          inputs, kernel, tf.squeeze(bias, 1))
    if inputs.shape[0] == 1:
      # Rows that all share are inputs, and narrow: a column of ones is cheaper
      # than one more pass over what comes out.
      inputs = tf.pad(inputs, [[0, 0], [0, 0], [0, 1]], constant_values=1.0)
      return self._activation(
          tf.matmul(inputs, tf.concat([kernel, bias], axis=1)))
    return self._activation(tf.matmul(inputs, kernel) + bias)


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

  def call(self, inputs: Members) -> Members:
    """Divides every row of every member."""
    return each(
        lambda x: row_division.divide_by_std(x, self._epsilon, self._rectify),
        inputs)


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
    # As precise as what they are folded into: a head is float32 where hidden
    # layers compute in less.
    self.scale = self.add_weight(
        'scale', shape, initializer='ones', experimental_autocast=False)
    self.offset = self.add_weight(
        'offset', shape, initializer='zeros', experimental_autocast=False)

  def call(self, inputs: Members) -> Members:
    """y of every member, from its x / std."""
    scale, offset = (
        tf.expand_dims(tf.cast(values, self.compute_dtype), 1)
        for values in (self.scale, self.offset))
    return each(
        lambda x, scale, offset: (
            x - tf.reduce_mean(x, axis=-1, keepdims=True)) * scale + offset,
        inputs, scale, offset)

  def fold(self, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """What y·kernel is in terms of x / std.

    Args:
      kernel: `[M, width, out]`.

    Returns:
      (kernel `[M, width, out]`, offset `[M, 1, out]`), so that
      y·kernel = (x / std)·kernel + offset.
    """
    scale = tf.cast(self.scale, kernel.dtype)
    # The mean of scale·kernel over the inputs and the offset: one product.
    mean, offset = tf.split(tf.matmul(
        tf.stack([1.0 / scale.shape[-1] * scale,
                  tf.cast(self.offset, kernel.dtype)], axis=1), kernel),
                            2, axis=1)  # [M, 1, out] each
    return tf.expand_dims(scale, 2) * kernel - mean, offset

  def products(self, rows: Members, kernel: tf.Tensor,
               roots: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """y·kernel and y²·roots², of x / std: y itself is not written.

    With m the mean of x / std, and all products by elements,

      y² = scale²·(x/std − m)² + 2·scale·offset·(x/std − m) + offset².

    Args:
      rows: x / std, in either form.
      kernel: `[M, width, 1]`.
      roots: `[M, width, 1]`.

    Returns:
      `[M, R, 1]` each.
    """
    scale = roots * tf.expand_dims(self.scale, 2)
    offset = roots * tf.expand_dims(self.offset, 2)
    folded, constant = self.fold(kernel)
    mean = tf.fill(kernel.shape, 1.0 / kernel.shape[1])
    weights = tf.concat([folded, mean, tf.square(scale),
                         2.0 * scale * offset], axis=2)
    _, _, square_sum, line_sum = tf.split(
        tf.reduce_sum(weights, axis=1, keepdims=True), 4, axis=2)  # [M, 1, 1]
    product, m, square, line = tf.split(
        multiply(rows, weights), 4, axis=2)  # [M, R, 1]
    y_square = (square_sums(rows, scale) + line
                + m * (m * square_sum - 2.0 * square - line_sum)
                + tf.reduce_sum(tf.square(offset), axis=1, keepdims=True))
    return product + constant, y_square
