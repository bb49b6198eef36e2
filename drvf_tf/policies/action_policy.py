"""The greedy policy of any actor, on raw observations."""
from typing import Any, Optional

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.distributions import utils as distribution_utils
from tf_agents.networks import network
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types
from tf_agents.utils import common

from drvf_tf.agents import agent_parts
from drvf_tf.data import offline_dataset
from drvf_tf.networks import noise


class ActionPolicy(tf_policy.TFPolicy):
  """Greedy actions on raw observations, and the actor's stochastic ones.

  It owns the actor and the normalisation of observations, so that it can be
  saved. Nothing is drawn for a greedy action.
  """

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               actor_network: network.Network,
               observation_mean: Optional[np.ndarray] = None,
               observation_std: Optional[np.ndarray] = None,
               info_spec: types.NestedTensorSpec = (),
               name: Optional[str] = None):
    """Creates the policy; it follows the network's variables.

    Args:
      time_step_spec: Of the environment, with raw observations.
      action_spec: One bounded vector.
      actor_network: Normalised observations to actions or a distribution.
      observation_mean: What the network's observations were shifted by.
      observation_std: What they were divided by.
      info_spec: Of what a step reports.
      name: Name of the policy.
    """
    super().__init__(
        time_step_spec, action_spec, info_spec=info_spec, name=name)
    shape = time_step_spec.observation.shape
    mean = np.zeros(shape) if observation_mean is None else observation_mean
    std = np.ones(shape) if observation_std is None else observation_std
    self._mean, self._std = (
        tf.Variable(values, trainable=False, dtype=tf.float32, name=label)
        for values, label in ((mean, 'observation_mean'),
                              (std, 'observation_std')))
    self._actor_network = actor_network
    # Traced once, however many functions of an export call it.
    self._act = tf.function(
        self._greedy, input_signature=self.batched_specs()[:1],
        autograph=False)

  def batched_specs(self) -> tuple[tf.TensorSpec, tf.TensorSpec]:
    """Of raw observations `[B, obs]` and of actions `[B, act]`."""
    observation, action = self.time_step_spec.observation, self.action_spec
    return (
        tf.TensorSpec([None, *observation.shape], tf.float32, 'observation'),
        tf.TensorSpec([None, *action.shape], tf.float32, 'action'))

  def greedy(self, observation: tf.Tensor) -> tf.Tensor:
    """The most likely action, `[B, obs]` to `[B, act]`."""
    return self._act(observation)

  def _greedy(self, observation):
    outcome, _ = self._actor_network(self._normalized(observation))
    if isinstance(outcome, tfp.distributions.Distribution):
      outcome = outcome.mode()
    return common.clip_to_spec(outcome, self.action_spec)

  def sample(self, observation: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """The stochastic policy: a pure function of observations and seed.

    Args:
      observation: Raw, `[B, obs]`.
      seed: int32 `[2]`.

    Returns:
      `[B, act]`; of an actor without a distribution, its one action.
    """
    outcome, _ = self._actor_network(self._normalized(observation))
    return sample(outcome, self.action_spec, seed)

  def _normalized(self, observation: tf.Tensor) -> tf.Tensor:
    return (observation - self._mean) / self._std

  def _variables(self):
    return [self._mean, self._std, *self._actor_network.variables]

  def _action(self, time_step, policy_state, seed=None):
    del seed
    return policy_step.PolicyStep(
        self.greedy(time_step.observation), policy_state)

  def _distribution(self, time_step, policy_state):
    # A distribution in the SavedModel would need TensorFlow Probability to be
    # loaded.
    raise NotImplementedError('The policy is greedy: use action or sample.')


def of_agent(agent: Any,
             dataset: Optional[offline_dataset.OfflineDataset] = None
             ) -> ActionPolicy:
  """The policy of an agent with an actor.

  Args:
    agent: An agent with an `actor_network`.
    dataset: What it was trained on; its normalisation is the policy's too.

  Returns:
    The policy, which follows the agent's variables.
  """
  return ActionPolicy(
      agent.time_step_spec, agent.action_spec,
      agent_parts.acting_network(agent),
      observation_mean=None if dataset is None else dataset.observation_mean,
      observation_std=None if dataset is None else dataset.observation_std)


def sample(outcome: Any, action_spec: types.BoundedTensorSpec,
           seed: tf.Tensor) -> tf.Tensor:
  """Draws from what an actor network gives, by a stateless seed.

  Args:
    outcome: Actions `[B, act]`, or a Gaussian, squashed or not.
    action_spec: One bounded vector.
    seed: int32 `[2]`.

  Returns:
    `[B, act]`, within the bounds.
  """
  if tf.is_tensor(outcome):
    return common.clip_to_spec(outcome, action_spec)
  # One algorithm by name: the default differs between devices.
  draws = tf.random.stateless_normal(
      tf.shape(outcome.mode()), seed, alg='philox')
  if isinstance(outcome, distribution_utils.SquashToSpecNormal):
    actions, _ = noise.sample_actions(outcome, draws)
  else:
    actions = outcome.mean() + outcome.stddev() * draws
  return common.clip_to_spec(actions, action_spec)
