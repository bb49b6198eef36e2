"""An ensemble critic whose Q samples come from dropout masks."""
import functools
from collections.abc import Sequence
from typing import Any, Optional

import gin
import tensorflow as tf
from tf_agents.typing import types

from drvf_tf.networks import (
  ensemble_critic_network,
  ensemble_layers,
  heads,
  q_values,
)
from drvf_tf.networks import spectral_norm as spectral_norm_lib


@gin.configurable
class DropoutCriticNetwork(ensemble_critic_network.EnsembleCriticNetwork):
  """M critics with n dropout masks each: one mask is one function.

  A mask is shared by all rows, as a draw of a Bayesian head is. There is no
  closed form: mean and variance are those of the n samples.
  """

  def __init__(self,
               input_tensor_spec: types.NestedTensorSpec,
               rate: float = 0.1,
               spectral_norm: bool = False,
               head: Any = heads.PointHead,
               name: str = 'DropoutCriticNetwork',
               **kwargs: Any):
    """Creates the network.

    Args:
      input_tensor_spec: (observation, action) specs, one vector each.
      rate: Share of each hidden layer's units that a mask drops.
      spectral_norm: Whether every kernel is divided by its largest singular
        value; not with `layer_norm`.
      head: Constructor of the last layer.
      name: Name of the network.
      **kwargs: Of `EnsembleCriticNetwork`.
    """
    if not 0 <= rate < 1:
      raise ValueError(f'rate must lie in [0, 1), not {rate}.')
    super().__init__(input_tensor_spec, head=head, name=name, **kwargs)
    self._rate = rate
    self._spectral_norm = None
    if spectral_norm:
      if self._norm is not None:
        raise ValueError('Either spectral_norm or layer_norm, not both.')
      self._spectral_norm = spectral_norm_lib.SpectralNorm()
      for layer in self._hidden:
        layer.fold_into_kernel(self._spectral_norm)

  def _deviations(
      self, sets: Sequence[ensemble_critic_network.ObservationAndAction],
      num_samples: int, seed: Optional[tf.Tensor]) -> list[q_values.QValues]:
    """Own masks for each set."""
    if seed is None:
      seed = tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    return [
        self._masked(inputs, num_samples,
                     tf.random.experimental.stateless_fold_in(seed, i))
        for i, inputs in enumerate(sets)]

  def _masked(self, inputs: ensemble_critic_network.ObservationAndAction,
              num_samples: int, seed: tf.Tensor) -> q_values.QValues:
    members = self._shared(inputs)
    rows = tf.shape(inputs[0])[0]
    # The first layer has no mask before it: it runs once for all samples.
    repeat = num_samples
    for i, layer in enumerate(self._hidden):
      members = layer(members)
      if isinstance(layer, ensemble_layers.EnsembleDense):
        masks = self._masks(
            num_samples, ensemble_layers.row_shape(members)[-1],
            tf.random.experimental.stateless_fold_in(seed, i))
        members = ensemble_layers.each(
            functools.partial(_apply, repeat=repeat), members, masks)
        repeat = 1
    members = ensemble_critic_network.float32(members)  # [n·B, d] each
    samples = self._head.sample(  # [M, n·B, 1]
        members, 1, seed, self._spectral_norm or self._norm)
    samples = tf.reshape(samples, [self._num_members, num_samples, rows])
    samples = tf.transpose(samples, [0, 2, 1])
    mean, variance = tf.nn.moments(samples, axes=[2])
    return q_values.QValues(samples, mean, variance)

  def _masks(self, num_samples: int, width: int,
             seed: tf.Tensor) -> tf.Tensor:
    """Masks `[M, n, width]` that keep the mean of a unit."""
    keep = tf.random.stateless_uniform(
        [self._num_members, num_samples, width], seed) >= self._rate
    return tf.cast(keep, tf.float32) / (1.0 - self._rate)


def _apply(x: tf.Tensor, mask: tf.Tensor, repeat: int) -> tf.Tensor:
  """Masks rows that lie sample by sample, of one member or of a stack.

  Args:
    x: `[n·B, width]`, or `[B, width]` with repeat = n: the same rows for all;
      `[M, ...]` in a stack.
    mask: `[n, width]`; `[M, n, width]` in a stack.
    repeat: How often the rows are to be used.

  Returns:
    `[n·B, width]`, or `[M, n·B, width]`.
  """
  *members, samples, width = mask.shape
  blocks = tf.reshape(  # [1 or n, B, width]
      x, [*members, samples // repeat, -1, width])
  masked = blocks * tf.cast(mask, x.dtype)[..., tf.newaxis, :]
  return tf.reshape(masked, [*members, -1, width])
