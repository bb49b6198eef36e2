"""Rows divided by their standard deviation, with few passes over memory.

On a CPU a product of a hidden layer runs near the machine's peak, and
everything around it is bound by memory: what normalisation costs is how often
it reads and writes the rows. Forward that is twice read for the statistics
and once written. The gradient, six element-wise operations, is compiled by
XLA into two passes; the rest of a step XLA would make slower.
"""
import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from typing import Callable

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def divide_by_std(rows: tf.Tensor, epsilon: float,
                  rectify: bool = False) -> tf.Tensor:
  """Each row x of `[..., width]` divided by its standard deviation.

  Args:
    rows: `[..., width]`.
    epsilon: Added to the variance.
    rectify: Whether x is relu(row), not the row itself.

  Returns:
    x / √(variance + ε), `[..., width]`.
  """
  if not _is_training(rows):  # a policy keeps no gradients of ours
    return _forward(rows, epsilon, rectify)[0]

  @tf.custom_gradient
  def divided(rows):
    y, mean, inverse = _forward(rows, epsilon, rectify)

    @tf.custom_gradient
    def gradient(dy, rows):
      def second(ddx):
        return _second_derivative(dy, rows, ddx, epsilon, rectify)

      dx = _fast_gradient(rectify, dy)(dy, y, mean * inverse, inverse)
      dx.set_shape(rows.shape)
      return dx, second

    return y, lambda dy: gradient(dy, rows)

  return divided(rows)


def _forward(rows: tf.Tensor, epsilon: float,
             rectify: bool) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  """x / std, `[..., width]`; the mean of x and 1 / std, `[..., 1]`."""
  x = tf.nn.relu(rows) if rectify else rows
  mean = tf.reduce_mean(x, axis=-1, keepdims=True)
  variance = (1.0 / x.shape[-1]) * _squares(x) - tf.square(mean)
  inverse = tf.math.rsqrt(tf.nn.relu(variance) + epsilon)
  return x * inverse, mean, inverse


def squares(rows: tf.Tensor) -> tf.Tensor:
  """Σx² of each row x of `[..., width]`: `[..., 1]`."""
  if not _is_training(rows):
    return _squares(rows)

  @tf.custom_gradient
  def summed(rows):
    return _squares(rows), lambda slope: 2.0 * slope * rows

  return summed(rows)


def _squares(x: tf.Tensor) -> tf.Tensor:
  """Σx² of each row, `[..., 1]`."""
  compiled = control_flow_util.GraphOrParentsInXlaContext(
      tf.compat.v1.get_default_graph())
  if _is_training(x) and not compiled:
    # One read, where squares would be written, and read again. Neither XLA nor
    # TFLite knows it.
    return tf.square(
        tf.math.reduce_euclidean_norm(x, axis=-1, keepdims=True))
  return tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)


def _is_training(rows: tf.Tensor) -> bool:
  """Whether this looks like a train step: a graph of one size.

  Exported policies take any number of rows, and an eager call is no matter of
  speed.
  """
  return rows.shape.is_fully_defined() and not tf.executing_eagerly()


def _gradient(dy: tf.Tensor, y: tf.Tensor, mean: tf.Tensor,
              inverse: tf.Tensor, rectify: bool) -> tf.Tensor:
  """∂L/∂row from dy = ∂L/∂y, where y = x / std, `[..., width]`.

  Args:
    dy: `[..., width]`.
    y: `[..., width]`.
    mean: Of y, `[..., 1]`.
    inverse: 1 / std of x, `[..., 1]`.
    rectify: As in `divide_by_std`.

  Returns:
    (dy − mean(dy·y)·(y − mean)) / std, and 0 where relu(row) is 0.
  """
  slope = tf.reduce_mean(dy * y, axis=-1, keepdims=True)
  dx = inverse * (dy - slope * (y - mean))
  return tf.where(y > 0, dx, tf.zeros_like(dx)) if rectify else dx


def _second_derivative(
    dy: tf.Tensor, rows: tf.Tensor, ddx: tf.Tensor, epsilon: float,
    rectify: bool) -> tuple[tf.Tensor, tf.Tensor]:
  """Derivatives of `_gradient` by dy and the rows, along ddx."""
  with tf.GradientTape() as tape:
    tape.watch((dy, rows))
    x = tf.nn.relu(rows) if rectify else rows
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    inverse = tf.math.rsqrt(variance + epsilon)
    dx = _gradient(dy, x * inverse, mean * inverse, inverse, rectify)
  return tape.gradient(dx, (dy, rows), ddx)


def _fast_gradient(rectify: bool, dy: tf.Tensor) -> Callable[..., tf.Tensor]:
  """`_gradient`, compiled where that serves: on a CPU."""
  if dy.dtype == tf.float32 and not tf.config.list_physical_devices('GPU'):
    return _compiled_gradient(rectify)
  return functools.partial(_gradient, rectify=rectify)


@functools.cache
def _compiled_gradient(rectify: bool) -> Callable[..., tf.Tensor]:
  """`_gradient` in XLA; it compiles once for each size it meets."""
  compiled = tf.function(
      functools.partial(_gradient, rectify=rectify), jit_compile=True,
      input_signature=[tf.TensorSpec(None, tf.float32)] * 4)
  with tf.init_scope(), _without_stderr():
    compiled(*[tf.ones([1, 1])] * 4)  # XLA greets when it compiles first
  return compiled


@contextlib.contextmanager
def _without_stderr() -> Iterator[None]:
  """Silences what a library writes from C++, past Python's `sys.stderr`."""
  sys.stderr.flush()
  try:
    kept = os.dup(2)
  except OSError:  # there is no stderr
    yield
    return
  with open(os.devnull, 'w') as nowhere:
    os.dup2(nowhere.fileno(), 2)
  try:
    yield
  finally:
    os.dup2(kept, 2)
    os.close(kept)
