"""A conditional VAE of the data's actions: what the behaviour policy does."""
from collections.abc import Sequence
from typing import Optional

import gin
import tensorflow as tf
from tf_agents.networks import network, normal_projection_network
from tf_agents.typing import types

from drvf_tf.networks import baseline_networks


@gin.configurable
class BehaviourVae(network.Network):
  """q(z | s, a) and p(a | s, z); actions are squashed to their bounds."""

  def __init__(self, input_tensor_spec: types.NestedTensorSpec,
               hidden_units: Sequence[int] = (750, 750),
               seed: Optional[int] = None, name: str = 'BehaviourVae'):
    """Creates the network.

    Args:
      input_tensor_spec: (observation, action) specs, one vector each.
      hidden_units: Widths of the ReLU layers, of encoder and decoder each.
      seed: Of the initial weights.
      name: Name of the network.
    """
    super().__init__(input_tensor_spec, state_spec=(), name=name)
    self._action_spec = input_tensor_spec[1]
    size = self._action_spec.shape.num_elements()
    self._latent_size = 2 * size
    self._encoder, self._decoder = (
        baseline_networks.relu_layers(
            hidden_units, outputs, None if seed is None else seed + start)
        for outputs, start in ((2 * self._latent_size, 0), (size, 50)))

  @property
  def latent_size(self) -> int:
    """Length of z."""
    return self._latent_size

  def encode(self, observations: tf.Tensor,
             actions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """(μ, σ) of q(z | s, a), `[B, latent]` each."""
    rows = tf.concat([observations, actions], axis=-1)
    for layer in self._encoder:
      rows = layer(rows)
    mean, log_std = tf.split(rows, 2, axis=-1)
    return mean, tf.exp(tf.clip_by_value(log_std, -4.0, 15.0))

  def decode(self, observations: tf.Tensor, latents: tf.Tensor) -> tf.Tensor:
    """Actions before they are squashed, `[R, obs]` and `[R, latent]` each."""
    rows = tf.concat([observations, latents], axis=-1)
    for layer in self._decoder:
      rows = layer(rows)
    return rows

  def call(self, inputs, step_type=(), network_state=(), training=False,
           noise=None):
    """((decoded actions, μ, σ), network_state) of pairs and a noise for z."""
    del step_type, training
    observations, actions = inputs
    mean, std = self.encode(observations, actions)
    latents = mean if noise is None else mean + std * noise
    decoded = normal_projection_network.tanh_squash_to_spec(
        self.decode(observations, latents), self._action_spec)
    return (decoded, mean, std), network_state
