"""Networks of the model-free baselines: ReLU layers and a small head.

`baseline_actor.hidden_units` and `baseline_critic.hidden_units` set the sizes
of all baselines at once; a value network V(s) is a critic of states alone.
"""
from collections.abc import Sequence
from typing import Callable, Optional

import gin
import tensorflow as tf
from tf_agents.networks import network, normal_projection_network, sequential
from tf_agents.typing import types

from drvf_tf.networks import actor_network

Head = Callable[[types.TensorSpec, Optional[int]], tf.keras.layers.Layer]


class SquashedMean(tf.keras.layers.Layer):
  """One action: tanh of a linear layer, scaled to the action bounds."""

  def __init__(self, action_spec: types.BoundedTensorSpec,
               seed: Optional[int] = None, name: str = 'SquashedMean'):
    super().__init__(name=name, dtype=tf.float32)
    self._action_spec = action_spec
    self.mean_layer = _dense(action_spec.shape.num_elements(), seed)

  def call(self, inputs):
    """`[B, d]` to `[B, act]`."""
    return normal_projection_network.tanh_squash_to_spec(
        self.mean_layer(inputs), self._action_spec)


class GaussianHead(normal_projection_network.NormalProjectionNetwork):
  """IQL's: a Gaussian around such a mean, its log σ the same in all states."""

  def __init__(self, action_spec: types.BoundedTensorSpec,
               seed: Optional[int] = None,
               log_std_bounds: tuple[float, float] = (-5.0, 2.0),
               name: str = 'GaussianHead'):
    low, high = log_std_bounds
    super().__init__(
        action_spec, std_bias_initializer_value=0.0,
        std_transform=lambda x: tf.exp(tf.clip_by_value(x, low, high)),
        name=name)
    self._means_projection_layer = _dense(
        action_spec.shape.num_elements(), seed)

  @property
  def mean_layer(self) -> tf.keras.layers.Dense:
    """What the mean is the squashed output of."""
    return self._means_projection_layer

  def call(self, inputs, network_state=(), **kwargs):
    """`[B, d]` to a distribution over `[B, act]`."""
    kwargs['outer_rank'] = 1
    kwargs.pop('step_type', None)
    return super().call(tf.cast(inputs, tf.float32), **kwargs)


def tanh_normal_head(action_spec: types.BoundedTensorSpec,
                     seed: Optional[int] = None) -> tf.keras.layers.Layer:
  """CQL's: a tanh-Gaussian with SAC's bounds of log σ."""
  return actor_network.TanhNormalHead(
      action_spec, log_std_bounds=(-20.0, 2.0), head_range=1e-3, seed=seed)


@gin.configurable
def baseline_actor(observation_spec: types.TensorSpec,
                   action_spec: types.BoundedTensorSpec,
                   head: Head,
                   hidden_units: Sequence[int] = (256, 256),
                   seed: Optional[int] = None) -> network.Network:
  """π: ReLU layers under a head.

  Args:
    observation_spec: One vector.
    action_spec: One bounded vector.
    head: Gives the last layer: `head(action_spec, seed)`.
    hidden_units: Widths of the ReLU layers.
    seed: Of the initial weights.

  Returns:
    A network from observations to what the head gives.
  """
  layers = _hidden_layers(hidden_units, seed)
  layers.append(head(action_spec, _shifted(seed, len(hidden_units))))
  return sequential.Sequential(
      layers, input_spec=observation_spec, name='ActorNetwork')


@gin.configurable
def baseline_critic(input_specs: Sequence[types.TensorSpec],
                    hidden_units: Sequence[int] = (256, 256),
                    layer_norm: bool = False,
                    seed: Optional[int] = None) -> network.Network:
  """Q of (states, actions), or V of (states,): a `ValueNetwork`."""
  return ValueNetwork(tuple(input_specs), hidden_units, layer_norm, seed)


class ValueNetwork(network.Network):
  """ReLU layers on the concatenated inputs, and one number: `[B]`."""

  def __init__(self, input_tensor_spec: tuple[types.TensorSpec, ...],
               hidden_units: Sequence[int] = (256, 256),
               layer_norm: bool = False,
               seed: Optional[int] = None, name: str = 'ValueNetwork'):
    """Creates the network.

    Args:
      input_tensor_spec: Vectors, e.g. (observation, action).
      hidden_units: Widths of the ReLU layers.
      layer_norm: Whether what each of them gives is normalised.
      seed: Of the initial weights.
      name: Name of the network.
    """
    super().__init__(input_tensor_spec, state_spec=(), name=name)
    self._hidden = _hidden_layers(hidden_units, seed)
    if layer_norm:
      self._hidden = [layer for dense in self._hidden for layer in (
          dense, tf.keras.layers.LayerNormalization(epsilon=1e-5))]
    self._value = _dense(1, _shifted(seed, len(hidden_units)))

  def call(self, inputs, step_type=(), network_state=(), training=False):
    """Values, `[B]`."""
    del step_type, training
    rows = tf.concat(inputs, axis=-1)
    for layer in self._hidden:
      rows = layer(rows)
    return self._value(rows)[:, 0], network_state


def relu_layers(hidden_units: Sequence[int], outputs: int,
                seed: Optional[int] = None) -> list[tf.keras.layers.Layer]:
  """ReLU layers and a linear one."""
  return [*_hidden_layers(hidden_units, seed),
          _dense(outputs, _shifted(seed, len(hidden_units)))]


def _hidden_layers(hidden_units: Sequence[int],
                   seed: Optional[int]) -> list[tf.keras.layers.Layer]:
  return [
      tf.keras.layers.Dense(
          units, activation='relu',
          kernel_initializer=_uniform(_shifted(seed, i)))
      for i, units in enumerate(hidden_units)]


def _dense(units: int, seed: Optional[int]) -> tf.keras.layers.Dense:
  return tf.keras.layers.Dense(
      units, kernel_initializer=_uniform(seed), dtype=tf.float32)


def _uniform(seed: Optional[int]) -> tf.keras.initializers.Initializer:
  """Uniform in ± 1/√inputs: what the methods' own code starts from."""
  return tf.keras.initializers.VarianceScaling(
      1 / 3, 'fan_in', 'uniform', seed=seed)


def _shifted(seed: Optional[int], by: int) -> Optional[int]:
  return None if seed is None else seed + by
