"""SAC over an ensemble critic, with three plug points.

A method is a choice of parts: the critic's head (what a Q sample is), the
backup (what each member regresses on), and the regularizers (what else the
critic minimises). See the table in docs/methods.md.
"""
import functools
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import gin
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.agents.sac import sac_agent
from tf_agents.networks import network
from tf_agents.policies import actor_policy
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts
from drvf_tf.data import offline_dataset, returns
from drvf_tf.losses import backups, constraints, ood_actions, terms
from drvf_tf.losses import regularizers as regularizers_lib
from drvf_tf.networks import noise, q_values, statistics


class ActorPass(NamedTuple):
  """The actor's objective and what the temperature answers to.

  Attributes:
    loss: Scalar, this replica's part.
    log_pi: Log-probabilities that it was taken at, `[B]`.
    metrics: Scalars, this replica's parts.
    excess: By how much a constraint is broken, `[B]`, where there is one.
  """
  loss: tf.Tensor
  log_pi: tf.Tensor
  metrics: dict[str, tf.Tensor]
  excess: Optional[tf.Tensor] = None


class Targets(NamedTuple):
  """What the critic regresses on.

  Attributes:
    values: `[1, B]` or `[M, B]`.
    weights: Of the rows in the Bellman error, `[B]`; None where all are alike.
    metrics: Scalars, this replica's parts.
  """
  values: tf.Tensor
  weights: Optional[tf.Tensor]
  metrics: dict[str, tf.Tensor]


@gin.configurable
class EnsembleSacAgent(sac_agent.SacAgent):
  """Soft actor-critic whose critic is one stacked ensemble."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               critic_network: network.Network,
               actor_network: network.Network,
               actor_optimizer: types.Optimizer,
               critic_optimizer: types.Optimizer,
               alpha_optimizer: types.Optimizer,
               num_batches: float = 1.0,
               backup: backups.Backup = backups.minimum,
               actor_value: backups.Backup = backups.minimum,
               regularizers: Sequence[regularizers_lib.Regularizer] = (),
               actor_constraint: constraints.Constraint = (
                   constraints.unconstrained),
               td_error: terms.TdError = terms.sampled_error,
               td_weight: float = 1.0,
               backup_entropy: float = 1.0,
               num_samples: int = 1,
               td_samples: Optional[int] = None,
               gamma: float = 0.99,
               target_update_tau: float = 0.005,
               target_update_period: int = 1,
               reward_scale_factor: float = 1.0,
               initial_log_alpha: float = 0.0,
               target_entropy: Optional[float] = None,
               initial_value: Callable[
                   [offline_dataset.OfflineDataset, float], float] = (
                       returns.zero),
               acting_tau: float = 1.0,
               gradient_clipping: Optional[float] = None,
               seed: int = 0,
               debug_summaries: bool = False,
               summarize_grads_and_vars: bool = False,
               train_step_counter: Optional[tf.Variable] = None,
               name: Optional[str] = None):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      critic_network: An `EnsembleCriticNetwork`; the target is its copy.
      actor_network: Observations to a tanh-Gaussian.
      actor_optimizer: Of the actor.
      critic_optimizer: Of the critic.
      alpha_optimizer: Of the temperature.
      num_batches: |D| / B, batches in an epoch; regularizers may scale by it.
      backup: `QValues` at (s', a') to the value in Eq. (14).
      actor_value: `QValues` at (s, π(s)) to the value in Eq. (17).
      regularizers: What Eq. (16) adds to the Bellman error.
      actor_constraint: What is made of Eq. (17); see `losses/constraints.py`.
      td_error: (`QValues` at the data, targets) to the Bellman error `[B]`.
      td_weight: Weight of the Bellman error (η_q of DRVF).
      backup_entropy: Share of the entropy bonus −β log π in Eq. (14); 0 where
        a method leaves it out.
      num_samples: n, posterior draws per member.
      td_samples: The same in the Bellman error; n by default.
      gamma: Discount γ.
      target_update_tau: Polyak step of the target critic.
      target_update_period: Train steps between target updates.
      reward_scale_factor: Multiplies rewards.
      initial_log_alpha: Where log β starts.
      target_entropy: Of the policy; −dim(A) by default.
      initial_value: (dataset, γ) to where Q starts; see `begin`.
      acting_tau: Polyak step of the actor that acts (evaluation, exports,
        `policy`), an average over the last 1/acting_tau steps; 1 is the
        actor itself.
      gradient_clipping: Norm to clip each gradient to.
      seed: Of all random draws in training; see `networks/noise.py`.
      debug_summaries: As in TF-Agents.
      summarize_grads_and_vars: As in TF-Agents.
      train_step_counter: Counts train steps, and seeds their draws; its own
        by default, not TF-Agents' global step that all agents share.
      name: Name of the agent.
    """
    agent_parts.check_action_spec(action_spec)
    if num_samples < 1:
      raise ValueError(f'num_samples must be at least 1, not {num_samples}.')
    if num_batches <= 0:
      raise ValueError(f'num_batches must be positive, not {num_batches}.')
    if td_weight < 0:
      raise ValueError(f'td_weight must not be negative, not {td_weight}.')
    if not 0.0 < acting_tau <= 1.0:
      raise ValueError(
          f'acting_tau must be above 0 and at most 1, not {acting_tau}.')
    if target_entropy is None:
      target_entropy = -float(action_spec.shape.num_elements())
    if train_step_counter is None:
      train_step_counter = agent_parts.own_train_step()
    target = critic_network.copy(name='TargetCriticNetwork')
    super().__init__(
        time_step_spec, action_spec,
        # One stacked critic fills both of SacAgent's slots; its variables
        # are de-duplicated there.
        critic_network=critic_network, critic_network_2=critic_network,
        target_critic_network=target, target_critic_network_2=target,
        actor_network=actor_network,
        actor_optimizer=actor_optimizer, critic_optimizer=critic_optimizer,
        alpha_optimizer=alpha_optimizer,
        actor_loss_weight=1.0, critic_loss_weight=1.0, alpha_loss_weight=1.0,
        target_update_tau=target_update_tau,
        target_update_period=target_update_period,
        gamma=gamma, reward_scale_factor=reward_scale_factor,
        initial_log_alpha=initial_log_alpha, target_entropy=target_entropy,
        gradient_clipping=gradient_clipping,
        debug_summaries=debug_summaries,
        summarize_grads_and_vars=summarize_grads_and_vars,
        train_step_counter=train_step_counter, name=name)
    self._backup = backups.following(backup, self.train_step_counter)
    self._actor_value = backups.following(
        actor_value, self.train_step_counter)
    self._regularizers = tuple(regularizers)
    self._actor_constraint = actor_constraint
    self._td_error, self._td_weight = td_error, td_weight
    self._num_samples = num_samples
    self._backup_entropy, self._num_batches = backup_entropy, num_batches
    self._td_samples = td_samples or num_samples
    self._seed, self._initial_value = seed, initial_value
    self._acting_tau, self._acting_network = acting_tau, actor_network
    if acting_tau < 1.0:
      self._acting_network = actor_network.copy(name='ActingNetwork')
      self._acting_network.create_variables(time_step_spec.observation)
      self._policy = actor_policy.ActorPolicy(
          time_step_spec, action_spec, actor_network=self._acting_network,
          training=False)
    self.initialize()

  def _initialize(self):
    """The target starts as a copy of the critic, what acts as the actor."""
    super()._initialize()
    self._average_actor(tau=1.0)

  def begin(self, dataset: offline_dataset.OfflineDataset) -> None:
    """Sets where Q starts; called once, before a run's first step."""
    value = self._reward_scale_factor * self._initial_value(
        dataset, self.gamma)
    self.critic_network.prior_mean.assign(value)
    self.target_critic_network.prior_mean.assign(value)

  @property
  def critic_network(self) -> network.Network:
    """The online critic."""
    return self._critic_network_1

  @property
  def target_critic_network(self) -> network.Network:
    """The target critic."""
    return self._target_critic_network_1

  @property
  def actor_network(self) -> network.Network:
    """The actor."""
    return self._actor_network

  @property
  def acting_network(self) -> network.Network:
    """The actor that acts: the actor's average, or the actor itself."""
    return self._acting_network

  @property
  def gamma(self) -> float:
    """The discount γ."""
    return self._gamma

  @property
  def num_samples(self) -> int:
    """n."""
    return self._num_samples

  # There is nothing for AutoGraph to convert below; converting all the same
  # triples the time to trace a step.
  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights):
    data_weights = agent_parts.data_weights(experience)
    experience = self._as_transition(experience)
    time_steps, policy_steps, next_time_steps = experience
    actions = policy_steps.action
    agent_parts.check_batch(time_steps, actions, next_time_steps)
    draws = noise.Draws.at_step(self._seed, self.train_step_counter)

    variables = self.critic_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      critic = self._critic_pass(
          time_steps, actions, next_time_steps, weights, draws, data_weights)
    self._descend(tape, critic.loss, variables, self._critic_optimizer)

    variables = self.actor_network.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      actor = self._actor_pass(time_steps, actions, weights, draws)
    self._descend(tape, actor.loss, variables, self._actor_optimizer)

    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(self._log_alpha)
      alpha_loss = self._alpha_pass(actor, weights)
    self._descend(tape, alpha_loss, [self._log_alpha], self._alpha_optimizer)

    self.train_step_counter.assign_add(1)
    self._update_target()
    self._average_actor(self._acting_tau)
    return self._loss_info(critic, actor, alpha_loss)

  def _loss(self, experience, weights=None, training=False):
    data_weights = agent_parts.data_weights(experience)
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    draws = noise.Draws.at_step(self._seed, self.train_step_counter)
    critic = self._critic_pass(
        time_steps, policy_steps.action, next_time_steps, weights, draws,
        data_weights)
    actor = self._actor_pass(time_steps, policy_steps.action, weights, draws)
    return self._loss_info(critic, actor, self._alpha_pass(actor, weights))

  def critic_loss(self, time_steps, actions, next_time_steps,
                  td_errors_loss_fn=None, gamma=None, reward_scale_factor=None,
                  weights=None, training=False):
    """L_critic of Eq. (16), as a scalar; the arguments are `SacAgent`'s."""
    del td_errors_loss_fn, gamma, reward_scale_factor, training
    draws = noise.Draws.at_step(self._seed, self.train_step_counter)
    return self._critic_pass(
        time_steps, actions, next_time_steps, weights, draws).loss

  def actor_loss(self, time_steps, weights=None, training=True, actions=None):
    """L_actor of Eq. (17), as a scalar; `actions` are for a constraint."""
    del training
    draws = noise.Draws.at_step(self._seed, self.train_step_counter)
    return self._actor_pass(time_steps, actions, weights, draws).loss

  @tf.autograph.experimental.do_not_convert
  def monitor(self, experience: Any) -> dict[str, tf.Tensor]:
    """What the critic says at the data's, the policy's and uniform actions.

    A penalty is what pessimism takes off the mean of Q; the actor sees the
    gap between that of its own actions and that of the data's.

    Args:
      experience: A batch.

    Returns:
      Scalars: `penalty_gap_policy` and `penalty_gap_uniform` (less the
      penalty at the data's actions), `target_penalty` (what Eq. (14) takes
      off at s'), `q_std_uniform`, `sigma_share` (of the variance of Q on data,
      what is the posterior's own).
    """
    time_steps, policy_steps, next_steps = self._as_transition(experience)
    draws = noise.Draws.at_step(~self._seed, self.train_step_counter)
    observations, actions = time_steps.observation, policy_steps.action
    uniform = ood_actions.uniform(
        None, observations, actions, self.action_spec, 1, draws)[0]
    q_data, q_policy, q_uniform = self.critic_network.evaluate(
        [(observations, actions),
         (observations, self._sample_policy(observations, draws)[1]),
         (observations, uniform)], self._num_samples, draws.seed())
    q_next, _ = self.target_critic_network(
        (next_steps.observation,
         self._sample_policy(next_steps.observation, draws)[1]),
        num_samples=self._num_samples, seed=draws.seed())
    on_data = backups.penalty(q_data, self._actor_value)
    data = statistics.q_statistics(q_data.mean, q_data.variance)
    spread = statistics.q_statistics(q_uniform.mean, q_uniform.variance)
    return {
        'penalty_gap_policy':
            backups.penalty(q_policy, self._actor_value) - on_data,
        'penalty_gap_uniform':
            backups.penalty(q_uniform, self._actor_value) - on_data,
        'target_penalty': backups.penalty(q_next, self._backup),
        'q_std_uniform': tf.reduce_mean(spread.std),
        'sigma_share': tf.math.divide_no_nan(
            tf.reduce_mean(tf.square(data.std_within)),
            tf.reduce_mean(tf.square(data.std))),
    }

  def _critic_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                   next_time_steps: ts.TimeStep,
                   weights: Optional[tf.Tensor],
                   draws: noise.Draws,
                   data_weights: Optional[tf.Tensor] = None
                   ) -> agent_parts.Pass:
    """Eq. (16): the trunk runs once over the data and all pairs asked for."""
    targets = self._weighted_targets(next_time_steps, weights, draws)
    context = regularizers_lib.Context(
        self.critic_network, self._policy_distribution,
        time_steps.observation, actions, next_time_steps.observation,
        self.action_spec, self.train_step_counter, self._num_batches, draws,
        functools.partial(self._bootstrap, next_time_steps), data_weights)
    pairs = {part: part.pairs(context) for part in self._regularizers}
    asked = {part: pair for part, pair in pairs.items() if pair is not None}
    sets = [(time_steps.observation, actions),
            *((pair.observations, pair.actions) for pair in asked.values())]
    q_data, *q_asked = self.critic_network.evaluate(
        sets, self._td_samples, draws.seed())
    q_pairs = dict(zip(asked, q_asked))

    td = self._average(
        self._td_error(q_data, targets.values), targets.weights)
    loss = self._td_weight * td
    metrics = {'td_loss': td, **targets.metrics}
    for part in self._regularizers:
      term, value = part.loss(context, regularizers_lib.Seen(
          q_data, pairs[part], q_pairs.get(part)))
      loss += self._average(term)
      metrics[part.name] = self._average(value)
    metrics.update(self._q_metrics('data', q_data))
    metrics['target_mean'] = agent_parts.share(targets.values)
    if self.critic_network.num_members * self._td_samples > 2:
      # Two functions always differ in one direction.
      metrics['effective_members'] = agent_parts.share(
          statistics.effective_members(q_data.samples))
    metrics['posterior_std'] = agent_parts.share(
        self.critic_network.head.posterior_std())
    return agent_parts.Pass(loss, metrics)

  def _weighted_targets(self, next_time_steps: ts.TimeStep,
                        weights: Optional[tf.Tensor],
                        draws: noise.Draws) -> Targets:
    return Targets(self._td_targets(next_time_steps, draws), weights, {})

  def _td_targets(self, next_time_steps: ts.TimeStep,
                  draws: noise.Draws) -> tf.Tensor:
    """Eq. (14), `[1, B]` or `[M, B]`."""
    _, next_actions, next_log_pi = self._sample_policy(
        next_time_steps.observation, draws)
    next_q, _ = self.target_critic_network(
        (next_time_steps.observation, next_actions),
        num_samples=self._num_samples, seed=draws.seed())
    return backups.td_target(
        self._reward_scale_factor * next_time_steps.reward,
        next_time_steps.discount, self._backup(next_q), next_log_pi,
        self._backup_entropy * tf.exp(self._log_alpha), self._gamma)

  def _bootstrap(self, next_time_steps: ts.TimeStep,
                 next_value: tf.Tensor) -> tf.Tensor:
    """r + γ V(s') without entropy, and with a gradient; V is `[..., B]`."""
    return (self._reward_scale_factor * next_time_steps.reward
            + self._gamma * next_time_steps.discount * next_value)

  def _actor_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                  weights: Optional[tf.Tensor],
                  draws: noise.Draws) -> ActorPass:
    """Eq. (17), under the constraint; `actions` are the data's."""
    distribution, sampled, log_pi = self._sample_policy(
        time_steps.observation, draws)
    q, _ = self.critic_network(
        (time_steps.observation, sampled),
        num_samples=self._num_samples, seed=draws.seed())
    objective = terms.actor_objective(
        self._actor_value(q), log_pi, tf.exp(self._log_alpha))
    loss = self._average(self._actor_constraint(
        objective, distribution, actions, self.train_step_counter), weights)
    metrics = self._q_metrics('policy', q)
    metrics['entropy'] = -agent_parts.share(log_pi)
    return ActorPass(loss, log_pi, metrics)

  def _alpha_pass(self, actor: ActorPass,
                  weights: Optional[tf.Tensor]) -> tf.Tensor:
    """SAC's objective of the temperature."""
    return self._average(terms.temperature_objective(
        self._log_alpha, actor.log_pi, self._target_entropy), weights)

  def _policy_distribution(self, observations: tf.Tensor) -> Any:
    return self.actor_network(observations)[0]

  def _sample_policy(
      self, observations: tf.Tensor,
      draws: noise.Draws) -> tuple[Any, tf.Tensor, tf.Tensor]:
    """(π(·|s), a ~ π(·|s) `[B, act]`, log π(a|s) `[B]`)."""
    distribution = self._policy_distribution(observations)
    shape = [noise.num_rows(observations), self.action_spec.shape[0]]
    return (distribution,
            *noise.sample_actions(distribution, draws.normal(shape)))

  def _get_target_updater(self, tau: float = 1.0,
                          period: int = 1) -> Callable[[], None]:
    return lambda: agent_parts.update_targets(
        [(self.critic_network, self.target_critic_network)], tau,
        self.train_step_counter, period)

  def _average_actor(self, tau: float) -> None:
    if self._acting_network is not self._actor_network:
      agent_parts.update_targets(
          [(self._actor_network, self._acting_network)], tau,
          self.train_step_counter)

  def _descend(self, tape: tf.GradientTape, loss: tf.Tensor,
               variables: Sequence[tf.Variable],
               optimizer: types.Optimizer) -> None:
    tf.debugging.check_numerics(loss, 'A loss is inf or nan.')
    self._apply_gradients(
        tape.gradient(loss, variables), variables, optimizer)

  def _average(self, term: tf.Tensor,
               weights: Optional[tf.Tensor] = None) -> tf.Tensor:
    """This replica's part: `[R]` averaged globally, a scalar added once."""
    if term.shape.rank == 0:
      return agent_parts.added_once(term)
    return agent_parts.average(term, weights)

  def _q_metrics(self, where: str,
                 q: q_values.QValues) -> dict[str, tf.Tensor]:
    stats = statistics.q_statistics(q.mean, q.variance)
    return {f'q_{where}': agent_parts.share(stats.mean),
            f'q_std_{where}': agent_parts.share(stats.std)}

  def _loss_info(self, critic: agent_parts.Pass, actor: ActorPass,
                 alpha_loss: tf.Tensor) -> tf_agent.LossInfo:
    extra = {
        'critic_loss': critic.loss,
        'actor_loss': actor.loss,
        'alpha_loss': alpha_loss,
        'temperature': agent_parts.share(tf.exp(self._log_alpha)),
        **critic.metrics,
        **actor.metrics,
    }
    return tf_agent.LossInfo(critic.loss + actor.loss + alpha_loss, extra)
