"""IQL: expectile values of the data, and cloning weighted by advantage."""
from typing import Optional

import gin
import tensorflow as tf
from tf_agents.agents import data_converter, tf_agent
from tf_agents.networks import network
from tf_agents.policies import actor_policy
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types
from tf_agents.utils import common

from drvf_tf.agents import agent_parts
from drvf_tf.losses import baselines


@gin.configurable
class IqlAgent(tf_agent.TFAgent):
  """Kostrikov et al. (2021). No action but the data's is ever evaluated."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               learners: agent_parts.ActorAndCritics,
               value_network: network.Network,
               value_optimizer: types.Optimizer,
               expectile: float = 0.7,
               temperature: float = 3.0,
               max_weight: float = 100.0,
               gamma: float = 0.99,
               target_update_tau: float = 0.005,
               train_step_counter: Optional[tf.Variable] = None):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      learners: The actor gives a distribution.
      value_network: (Observations,) to V.
      value_optimizer: Of V.
      expectile: τ of Eq. (5).
      temperature: β of Eq. (7).
      max_weight: Where the weights of Eq. (7) are cut.
      gamma: Discount γ.
      target_update_tau: Polyak step of the target critics.
      train_step_counter: Counts train steps; the agent's own by default.
    """
    tf.Module.__init__(self)
    agent_parts.check_action_spec(action_spec)
    if not 0 < expectile < 1:
      raise ValueError(
          f'expectile must be between 0 and 1, not {expectile}.')
    if temperature < 0:
      raise ValueError(f'temperature must not be negative, not {temperature}.')
    if train_step_counter is None:
      train_step_counter = agent_parts.own_train_step()
    (self._actor_network, self._critics, self._actor_optimizer,
     self._critic_optimizer) = learners
    self._value_network, self._value_optimizer = value_network, value_optimizer
    self._targets = tuple(critic.copy(name=f'TargetCritic{i}')
                          for i, critic in enumerate(self._critics, 1))
    for built in (*self._critics, *self._targets, value_network,
                  learners.actor):
      built.create_variables()
    self._expectile, self._temperature = expectile, temperature
    self._max_weight = max_weight
    self._gamma, self._tau = gamma, target_update_tau
    policy = actor_policy.ActorPolicy(
        time_step_spec, action_spec, learners.actor)
    super().__init__(
        time_step_spec, action_spec, policy, collect_policy=policy,
        train_sequence_length=2, train_step_counter=train_step_counter)
    self._as_transition = data_converter.AsTransition(
        self.data_context, squeeze_time_dim=True)
    self.initialize()  # the targets start as copies

  @property
  def gamma(self) -> float:
    """The discount γ."""
    return self._gamma

  @property
  def actor_network(self) -> network.Network:
    """The actor."""
    return self._actor_network

  def _initialize(self):
    for critic, target in zip(self._critics, self._targets):
      common.soft_variables_update(critic.variables, target.variables, 1.0)

  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights=None):
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    actions = policy_steps.action
    agent_parts.check_batch(time_steps, actions, next_time_steps)

    # The authors' order: actor and critics see the value of this step.
    variables = self._value_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      value = self._value_pass(time_steps, actions, weights)
    agent_parts.descend(tape, value.loss, variables, self._value_optimizer)

    variables = self._actor_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      actor = self._actor_pass(time_steps, actions, weights)
    agent_parts.descend(tape, actor.loss, variables, self._actor_optimizer)

    variables = self._critic_variables()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      critic = self._critic_pass(time_steps, actions, next_time_steps, weights)
    agent_parts.descend(tape, critic.loss, variables, self._critic_optimizer)

    agent_parts.update_targets(
        list(zip(self._critics, self._targets)), self._tau,
        self.train_step_counter)
    self.train_step_counter.assign_add(1)
    return _loss_info(value, actor, critic)

  def _loss(self, experience, weights=None, training=False):
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    actions = policy_steps.action
    return _loss_info(
        self._value_pass(time_steps, actions, weights),
        self._actor_pass(time_steps, actions, weights),
        self._critic_pass(time_steps, actions, next_time_steps, weights))

  def _advantages(self, time_steps: ts.TimeStep,
                  actions: tf.Tensor) -> tf.Tensor:
    """min of the target critics' Q(s, a), less V(s): `[B]`."""
    q_1, q_2 = (target((time_steps.observation, actions))[0]
                for target in self._targets)
    value, _ = self._value_network((time_steps.observation,))
    return tf.stop_gradient(tf.minimum(q_1, q_2)) - value

  def _value_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                  weights: Optional[tf.Tensor]) -> agent_parts.Pass:
    """Eq. (5)."""
    advantages = self._advantages(time_steps, actions)
    loss = agent_parts.average(
        baselines.expectile_error(advantages, self._expectile), weights)
    return agent_parts.Pass(
        loss, {'advantage': agent_parts.share(advantages)})

  def _actor_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                  weights: Optional[tf.Tensor]) -> agent_parts.Pass:
    """Eq. (7)."""
    advantage_weights = baselines.advantage_weights(
        self._advantages(time_steps, actions), self._temperature,
        self._max_weight)
    distribution, _ = self._actor_network(time_steps.observation)
    loss = agent_parts.average(
        -advantage_weights * distribution.log_prob(actions), weights)
    return agent_parts.Pass(loss, {
        'advantage_weight': agent_parts.share(advantage_weights),
        'entropy': agent_parts.share(distribution.entropy())})

  def _critic_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                   next_time_steps: ts.TimeStep,
                   weights: Optional[tf.Tensor]) -> agent_parts.Pass:
    """Eq. (6)."""
    next_value, _ = self._value_network((next_time_steps.observation,))
    targets = tf.stop_gradient(
        next_time_steps.reward
        + self._gamma * next_time_steps.discount * next_value)
    q_1, q_2 = (critic((time_steps.observation, actions))[0]
                for critic in self._critics)
    loss = agent_parts.average(
        baselines.twin_bellman_error(q_1, q_2, targets), weights)
    return agent_parts.Pass(loss, {
        'td_loss': loss,
        'q_data': agent_parts.share((q_1 + q_2) / 2),
        'target_mean': agent_parts.share(targets)})

  def _critic_variables(self) -> list[tf.Variable]:
    return [variable for critic in self._critics
            for variable in critic.trainable_variables]


def _loss_info(value: agent_parts.Pass, actor: agent_parts.Pass,
               critic: agent_parts.Pass) -> tf_agent.LossInfo:
  return tf_agent.LossInfo(value.loss + actor.loss + critic.loss, {
      'critic_loss': critic.loss, 'actor_loss': actor.loss,
      'value_loss': value.loss,
      **value.metrics, **actor.metrics, **critic.metrics})
