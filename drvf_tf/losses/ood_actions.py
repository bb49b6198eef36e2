"""Where the out-of-distribution actions of Eq. (15) come from, Sec. 5.3.

A source gives K actions for each of B states as `[K, B, act]`. Noise comes
from outside (`draws`), so that a source is a pure function of it.
"""
from typing import Callable

import gin
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.typing import types

from drvf_tf.networks import noise

# observations to a distribution
Policy = Callable[[tf.Tensor], tfp.distributions.Distribution]
# (policy, observations, actions, action spec, K, draws) to `[K, B, act]`
Source = Callable[
    [Policy, tf.Tensor, tf.Tensor, types.BoundedTensorSpec, int, noise.Draws],
    tf.Tensor]


@gin.configurable
def from_policy(policy: Policy, observations: tf.Tensor, actions: tf.Tensor,
                action_spec: types.BoundedTensorSpec, num_actions: int,
                draws: noise.Draws) -> tf.Tensor:
  """a ~ π(·|s), the paper's choice: no gradient reaches the policy."""
  del action_spec
  shape = [num_actions, noise.num_rows(actions), actions.shape[-1]]
  return tf.stop_gradient(noise.sample_bare_actions(
      policy(observations), draws.normal(shape)))


@gin.configurable
def uniform(policy: Policy, observations: tf.Tensor, actions: tf.Tensor,
            action_spec: types.BoundedTensorSpec, num_actions: int,
            draws: noise.Draws) -> tf.Tensor:
  """Uniform over the action space (App. E.2)."""
  del policy, observations
  shape = [num_actions, noise.num_rows(actions), actions.shape[-1]]
  low, high = action_spec.minimum, action_spec.maximum
  return low + (high - low) * draws.uniform(shape)


@gin.configurable
def noisy_dataset(policy: Policy, observations: tf.Tensor, actions: tf.Tensor,
                  action_spec: types.BoundedTensorSpec, num_actions: int,
                  draws: noise.Draws, std: float = 0.3) -> tf.Tensor:
  """The dataset's own actions plus Gaussian noise, clipped to the bounds."""
  del policy, observations
  shape = [num_actions, noise.num_rows(actions), actions.shape[-1]]
  noisy = actions + std * draws.normal(shape)
  return tf.clip_by_value(noisy, action_spec.minimum, action_spec.maximum)
