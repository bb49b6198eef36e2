"""The actor: a tanh-Gaussian with EDAC's initialisation, of TF-Agents parts."""
import math
from collections.abc import Sequence
from typing import Optional

import gin
import tensorflow as tf
from tf_agents.agents.sac import tanh_normal_projection_network as tanh_normal
from tf_agents.networks import network, sequential
from tf_agents.typing import types

from drvf_tf.networks import ensemble_layers


class TanhNormalHead(tanh_normal.TanhNormalProjectionNetwork):
  """TF-Agents' projection with log-std bounds and small initial weights."""

  def __init__(self, sample_spec, log_std_bounds, head_range, seed,
               name='TanhNormalHead'):
    low, high = log_std_bounds
    super().__init__(
        sample_spec,
        std_transform=lambda x: tf.exp(tf.clip_by_value(x, low, high)),
        name=name)
    uniform = tf.keras.initializers.RandomUniform(
        -head_range, head_range, seed=seed)
    self._projection_layer = tf.keras.layers.Dense(
        2 * sample_spec.shape.num_elements(), kernel_initializer=uniform,
        bias_initializer=uniform, dtype=tf.float32, name='projection_layer')

  def call(self, inputs, network_state=(), **kwargs):
    """`[B, d]` to a distribution over `[B, act]`."""
    kwargs['outer_rank'] = 1
    kwargs.pop('step_type', None)
    return super().call(tf.cast(inputs, tf.float32), **kwargs)


@gin.configurable
def tanh_gaussian_actor(
    observation_spec: types.NestedTensorSpec,
    action_spec: types.NestedTensorSpec,
    hidden_units: Sequence[int] = (256, 256, 256),
    log_std_bounds: Sequence[float] = (-5.0, 2.0),
    head_range: float = 1e-3,
    bias_value: float = 0.1,
    input_bias_range: float = 0.0,
    layer_norm: bool = False,
    seed: Optional[int] = None) -> network.Network:
  """π(a|s) = tanh-Gaussian scaled to the action bounds.

  Args:
    observation_spec: One vector.
    action_spec: One bounded vector.
    hidden_units: Widths of the ReLU layers.
    log_std_bounds: Where log σ is clipped.
    head_range: The last layer starts uniform in ± this.
    bias_value: What the hidden biases start from.
    input_bias_range: Those of the first layer start uniform in ± this around
      it; see `ensemble_layers.bias_initializer`.
    layer_norm: Whether each hidden layer is normalised, after its ReLU.
    seed: Of the initial weights.

  Returns:
    A network from observations to `SquashToSpecNormal`.
  """
  layers = []
  width = observation_spec.shape[0]
  for i, units in enumerate(hidden_units):
    bound = 1.0 / math.sqrt(width)
    layer_seed = None if seed is None else seed + i
    layers.append(tf.keras.layers.Dense(
        units, activation='relu',
        kernel_initializer=tf.keras.initializers.RandomUniform(
            -bound, bound, seed=layer_seed),
        bias_initializer=ensemble_layers.bias_initializer(
            bias_value, 0.0 if i else input_bias_range, layer_seed)))
    if layer_norm:
      layers.append(tf.keras.layers.LayerNormalization())
    width = units
  layers.append(TanhNormalHead(
      action_spec, log_std_bounds, head_range,
      seed=None if seed is None else seed + len(hidden_units)))
  return sequential.Sequential(
      layers, input_spec=observation_spec, name='ActorNetwork')
