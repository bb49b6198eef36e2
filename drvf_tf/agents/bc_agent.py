"""BC: behavioural cloning by least squares, on TF-Agents' own agent."""
from typing import Optional

import gin
import tensorflow as tf
from tf_agents.agents import data_converter, tf_agent
from tf_agents.agents.behavioral_cloning import behavioral_cloning_agent
from tf_agents.networks import network
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts
from drvf_tf.losses import baselines


@gin.configurable
class BcAgent(behavioral_cloning_agent.BehavioralCloningAgent):
  """TF-Agents' cloning agent, on transitions, with scalar metrics."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               actor_network: network.Network,
               actor_optimizer: types.Optimizer,
               train_step_counter: Optional[tf.Variable] = None,
               name: Optional[str] = None):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      actor_network: Observations to actions.
      actor_optimizer: Of the actor.
      train_step_counter: Counts train steps; the agent's own by default.
      name: Name of the agent.
    """
    agent_parts.check_action_spec(action_spec)
    if train_step_counter is None:
      train_step_counter = agent_parts.own_train_step()
    super().__init__(
        time_step_spec, action_spec, cloning_network=actor_network,
        optimizer=actor_optimizer, train_step_counter=train_step_counter,
        name=name)
    self._as_transition = data_converter.AsTransition(
        self.data_context, squeeze_time_dim=True)

  @property
  def actor_network(self) -> network.Network:
    """The actor."""
    return self.cloning_network

  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights=None):
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    agent_parts.check_batch(
        time_steps, policy_steps.action, next_time_steps)
    variables = self.actor_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      loss = self._cloning_loss(time_steps, policy_steps.action, weights)
    agent_parts.descend(tape, loss, variables, self._optimizer)
    self.train_step_counter.assign_add(1)
    return tf_agent.LossInfo(loss, {'actor_loss': loss})

  def _loss(self, experience, weights=None, training=False):
    time_steps, policy_steps, _ = self._as_transition(experience)
    loss = self._cloning_loss(time_steps, policy_steps.action, weights)
    return tf_agent.LossInfo(loss, {'actor_loss': loss})

  def _cloning_loss(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                    weights: Optional[tf.Tensor]) -> tf.Tensor:
    cloned, _ = self.actor_network(time_steps.observation)
    return agent_parts.average(
        baselines.cloning_error(cloned, actions), weights)
