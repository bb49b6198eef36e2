"""TD3+BC: TF-Agents' TD3 whose actor stays near the data."""
from typing import Any, Optional, Union

import gin
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.agents.td3 import td3_agent
from tf_agents.networks import network
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts
from drvf_tf.losses import baselines
from drvf_tf.networks import noise, replicas


@gin.configurable
class Td3BcAgent(td3_agent.Td3Agent):
  """Fujimoto and Gu (2021): −λ Q(s, π(s)) + (π(s) − a)²."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               learners: agent_parts.ActorAndCritics,
               alpha: float = 2.5,
               gamma: float = 0.99,
               target_update_tau: float = 0.005,
               target_update_period: int = 2,
               target_policy_noise: float = 0.2,
               target_policy_noise_clip: float = 0.5,
               seed: int = 0,
               train_step_counter: Optional[tf.Variable] = None,
               name: Optional[str] = None):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      learners: The actor, its target a copy, is deterministic; a `PeriodicAdam`
        delays its updates.
      alpha: α of λ.
      gamma: Discount γ.
      target_update_tau: Polyak step of all targets.
      target_update_period: Train steps between target updates.
      target_policy_noise: Std of the noise on target actions, in half widths
        of the action bounds.
      target_policy_noise_clip: Where that noise is clipped.
      seed: Of that noise; see `networks/noise.py`.
      train_step_counter: Counts train steps; the agent's own by default.
      name: Name of the agent.
    """
    agent_parts.check_action_spec(action_spec)
    if alpha < 0:
      raise ValueError(f'alpha must not be negative, not {alpha}.')
    if target_update_period < 1:
      raise ValueError('target_update_period must be at least 1, not '
                       f'{target_update_period}.')
    if train_step_counter is None:
      train_step_counter = agent_parts.own_train_step()
    actor, (critic_1, critic_2), actor_optimizer, critic_optimizer = learners
    super().__init__(
        time_step_spec, action_spec, actor, critic_1,
        actor_optimizer, critic_optimizer,
        critic_network_2=critic_2,
        target_actor_network=actor.copy(name='TargetActorNetwork'),
        target_critic_network=critic_1.copy(name='TargetCritic1'),
        target_critic_network_2=critic_2.copy(name='TargetCritic2'),
        target_update_tau=target_update_tau,
        target_update_period=target_update_period, gamma=gamma,
        target_policy_noise=target_policy_noise,
        target_policy_noise_clip=target_policy_noise_clip,
        train_step_counter=train_step_counter, name=name)
    self._alpha, self._seed = alpha, seed
    self.initialize()  # the targets start as copies

  @property
  def gamma(self) -> float:
    """The discount γ."""
    return self._gamma

  @property
  def actor_network(self) -> network.Network:
    """The actor."""
    return self._actor_network

  def _get_target_updater(self, tau=1.0, period=1):
    # Targets move in the steps in which the actor does, as in the authors'
    # code; TF-Agents' own updater lets the first of them pass.
    def update() -> None:
      agent_parts.update_targets(
          [(self._actor_network, self._target_actor_network),
           (self._critic_network_1, self._target_critic_network_1),
           (self._critic_network_2, self._target_critic_network_2)],
          tau, self.train_step_counter, period)

    return update

  def _as_batch(self, experience: Any) -> trajectory.Transition:
    return self._as_transition(experience)

  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights=None):
    batch = self._as_batch(experience)
    time_steps, actions = batch.time_step, batch.action_step.action
    agent_parts.check_batch(time_steps, actions, batch.next_time_step)

    variables = self._critic_variables()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      critic = self._critic_pass(batch, weights)
    agent_parts.descend(tape, critic.loss, variables, self._critic_optimizer)

    variables = self._actor_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      actor = self._actor_pass(time_steps, actions, weights)
    agent_parts.descend(tape, actor.loss, variables, self._actor_optimizer)

    self._update_target()
    self.train_step_counter.assign_add(1)
    return _loss_info(critic, actor)

  def _loss(self, experience, weights=None, training=False):
    batch = self._as_batch(experience)
    return _loss_info(
        self._critic_pass(batch, weights),
        self._actor_pass(batch.time_step, batch.action_step.action, weights))

  def critic_loss(self, time_steps, actions, next_time_steps, weights=None,
                  training=False):
    """The twin Bellman error, a scalar; the arguments are `Td3Agent`'s."""
    del training
    return self._critic_pass(trajectory.Transition(
        time_steps, policy_step.PolicyStep(actions), next_time_steps),
                             weights).loss

  def actor_loss(self, time_steps, weights=None, training=False, actions=None):
    """TD3+BC's objective, a scalar; `actions` are the data's."""
    del training
    return self._actor_pass(time_steps, actions, weights).loss

  def _critic_pass(self, batch: trajectory.Transition,
                   weights: Optional[tf.Tensor]) -> agent_parts.Pass:
    targets = self._td_targets(batch)
    pair = (batch.time_step.observation, batch.action_step.action)
    q_1, _ = self._critic_network_1(pair)
    q_2, _ = self._critic_network_2(pair)
    loss = agent_parts.average(
        baselines.twin_bellman_error(q_1, q_2, targets), weights)
    return agent_parts.Pass(loss, {
        'td_loss': loss,
        'q_data': agent_parts.share((q_1 + q_2) / 2),
        'target_mean': agent_parts.share(targets)})

  def _td_targets(self, batch: trajectory.Transition) -> tf.Tensor:
    draws = noise.Draws.at_step(self._seed, self.train_step_counter)
    next_time_steps, spec = batch.next_time_step, self.action_spec
    observations = next_time_steps.observation
    actions, _ = self._target_actor_network(observations)
    shape = [tf.shape(observations)[0], spec.shape[0]]
    actions = baselines.smoothed_actions(
        actions, draws.normal(shape), spec.minimum, spec.maximum,
        self._target_policy_noise, self._target_policy_noise_clip)
    q_1, _ = self._target_critic_network_1((observations, actions))
    q_2, _ = self._target_critic_network_2((observations, actions))
    value = tf.minimum(q_1, q_2) - self._target_penalty(batch, actions)
    return tf.stop_gradient(
        next_time_steps.reward
        + self._gamma * next_time_steps.discount * value)

  def _target_penalty(self, batch: trajectory.Transition,
                      actions: tf.Tensor) -> Union[float, tf.Tensor]:
    """What the target takes off for the target policy's actions: nothing."""
    del batch, actions
    return 0.0

  def _actor_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                  weights: Optional[tf.Tensor]) -> agent_parts.Pass:
    own_actions, _ = self._actor_network(time_steps.observation)
    q = self._actor_value((time_steps.observation, own_actions))
    loss = agent_parts.average(self._actor_objective(
        q, replicas.global_mean(tf.abs(q)), own_actions, actions), weights)
    return agent_parts.Pass(loss, {
        'q_policy': agent_parts.share(q),
        'cloning_loss': agent_parts.share(
            baselines.cloning_error(own_actions, actions))})

  def _actor_value(self, pairs: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
    """What the actor climbs: the first critic."""
    return self._critic_network_1(pairs)[0]

  def _actor_objective(self, q: tf.Tensor, mean_abs_q: tf.Tensor,
                       own_actions: tf.Tensor,
                       actions: tf.Tensor) -> tf.Tensor:
    return baselines.td3_bc_objective(
        q, mean_abs_q, own_actions, actions, self._alpha)

  def _critic_variables(self) -> list[tf.Variable]:
    return [*self._critic_network_1.trainable_variables,
            *self._critic_network_2.trainable_variables]


def _loss_info(critic: agent_parts.Pass,
               actor: agent_parts.Pass) -> Any:
  return tf_agent.LossInfo(critic.loss + actor.loss, {
      'critic_loss': critic.loss, 'actor_loss': actor.loss,
      **critic.metrics, **actor.metrics})
