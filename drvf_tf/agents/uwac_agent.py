"""UWAC: what the dropout critic does not know counts less."""
from typing import Any, Callable, Optional

import gin
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts, ensemble_sac_agent
from drvf_tf.losses import uwac
from drvf_tf.networks import behaviour_vae, noise

_VAE = 1  # the purpose of its noise, apart from that of the other passes


@gin.configurable
class UwacAgent(ensemble_sac_agent.EnsembleSacAgent):
  """Wu et al. (2021), on BEAR: an MMD constraint instead of an entropy.

  The temperature of `EnsembleSacAgent` is the constraint's dual variable α.
  """

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               beta: float = 0.5,
               num_masks: int = 100,
               num_target_actions: int = 10,
               num_mmd_actions: int = 4,
               mmd_threshold: float = 0.07,
               kernel: uwac.Kernel = uwac.gaussian_kernel,
               warm_up_steps: int = 40_000,
               vae: Callable[..., behaviour_vae.BehaviourVae] = (
                   behaviour_vae.BehaviourVae),
               vae_learning_rate: float = 3e-4,
               seed: int = 0,
               **kwargs: Any):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      beta: β of the weights exp(−β Var).
      num_masks: n, dropout masks per member; the Bellman error has one.
      num_target_actions: Actions of the policy in s', of which the best counts.
      num_mmd_actions: Actions of the policy, and as many of the VAE.
      mmd_threshold: ε.
      kernel: Of the MMD.
      warm_up_steps: Train steps in which the actor heeds the constraint alone.
      vae: Constructor of the behaviour VAE.
      vae_learning_rate: Adam's.
      seed: Of all random draws in training, and of the VAE's weights.
      **kwargs: Of `EnsembleSacAgent`: a `DropoutCriticNetwork` of two members,
        an actor, three optimizers, of which the last is log α's, and the rest.
    """
    for name, value in (('num_target_actions', num_target_actions),
                        ('num_mmd_actions', num_mmd_actions)):
      if value < 1:
        raise ValueError(f'{name} must be at least 1, not {value}.')
    if beta < 0:
      raise ValueError(f'beta must not be negative, not {beta}.')
    super().__init__(
        time_step_spec, action_spec, num_samples=num_masks, td_samples=1,
        seed=seed, **kwargs)
    self._beta, self._kernel = beta, kernel
    self._num_target_actions = num_target_actions
    self._num_mmd_actions, self._threshold = num_mmd_actions, mmd_threshold
    self._warm_up_steps = warm_up_steps
    self._vae = vae((time_step_spec.observation, action_spec),
                    seed=10 * seed + 4_000)
    self._vae.create_variables()
    self._vae_optimizer = tf.keras.optimizers.legacy.Adam(vae_learning_rate)

  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights):
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    agent_parts.check_batch(
        time_steps, policy_steps.action, next_time_steps)
    variables = self._vae.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(variables)
      vae_loss = self._vae_pass(time_steps, policy_steps.action, weights)
    agent_parts.descend(tape, vae_loss, variables, self._vae_optimizer)
    return _with_vae(super()._train(experience, weights), vae_loss)

  def _loss(self, experience, weights=None, training=False):
    time_steps, policy_steps, _ = self._as_transition(experience)
    return _with_vae(
        super()._loss(experience, weights, training),
        self._vae_pass(time_steps, policy_steps.action, weights))

  def _vae_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                weights: Optional[tf.Tensor]) -> tf.Tensor:
    step = noise.Draws.at_step(self._seed, self.train_step_counter)
    draws = noise.Draws(
        tf.random.experimental.stateless_fold_in(step.seed(), _VAE))
    drawn = draws.normal([tf.shape(actions)[0], self._vae.latent_size])
    (decoded, mean, std), _ = self._vae(
        (time_steps.observation, actions), noise=drawn)
    return self._average(uwac.vae_loss(decoded, actions, mean, std), weights)

  def _weighted_targets(self, next_time_steps: ts.TimeStep,
                        weights: Optional[tf.Tensor],
                        draws: noise.Draws) -> ensemble_sac_agent.Targets:
    """The best of several actions in s', less sure where masks disagree."""
    observations = next_time_steps.observation
    count, rows = self._num_target_actions, tf.shape(observations)[0]
    actions, _ = noise.sample_actions(
        self._policy_distribution(observations),
        draws.normal([count, rows, self.action_spec.shape[0]]))
    q, _ = self.target_critic_network(
        (tf.tile(observations, [count, 1]),
         tf.reshape(actions, [-1, actions.shape[-1]])),
        num_samples=self._num_samples, seed=draws.seed())  # rows: [A·B]
    best = tf.reduce_max(
        tf.reshape(self._backup(q), [count, rows]), axis=0)
    variance = tf.reduce_max(tf.reshape(
        tf.reduce_sum(q.variance, axis=0), [count, rows]), axis=0)
    weight = uwac.uncertainty_weight(variance, self._beta)
    # It multiplies the error itself, which is squared.
    squared = tf.square(weight)
    return ensemble_sac_agent.Targets(
        tf.stop_gradient(self._bootstrap(next_time_steps, best))[tf.newaxis],
        squared if weights is None else squared * weights,
        {'td_weight': agent_parts.share(weight)})

  def _actor_pass(self, time_steps: ts.TimeStep, actions: tf.Tensor,
                  weights: Optional[tf.Tensor],
                  draws: noise.Draws) -> ensemble_sac_agent.ActorPass:
    observations = time_steps.observation
    rows, count = tf.shape(observations)[0], self._num_mmd_actions
    distribution = self._policy_distribution(observations)
    drawn = draws.normal([count, rows, self.action_spec.shape[0]])
    gaussian = distribution.input_distribution
    unsquashed = gaussian.mean() + gaussian.stddev() * drawn  # [K, B, act]
    own, log_pi = noise.sample_actions(distribution, drawn[0])
    excess = uwac.mmd(self._behaviour(observations, draws), unsquashed,
                      self._kernel) - self._threshold
    q, _ = self.critic_network(
        (observations, own), num_samples=self._num_samples, seed=draws.seed())
    weight = uwac.uncertainty_weight(
        tf.reduce_sum(q.variance, axis=0), self._beta)
    loss = self._average(uwac.weighted_objective(
        self._actor_value(q)[0], weight, excess, tf.exp(self._log_alpha),
        self.train_step_counter < self._warm_up_steps), weights)
    metrics = self._q_metrics('policy', q)
    metrics.update(entropy=-agent_parts.share(log_pi),
                   mmd=agent_parts.share(excess + self._threshold),
                   actor_weight=agent_parts.share(weight))
    return ensemble_sac_agent.ActorPass(loss, log_pi, metrics, excess)

  def _behaviour(self, observations: tf.Tensor,
                 draws: noise.Draws) -> tf.Tensor:
    """The VAE's actions before they are squashed, `[K, B, act]`."""
    rows, count = tf.shape(observations)[0], self._num_mmd_actions
    size = self._vae.latent_size
    latents = tf.clip_by_value(
        draws.normal([count, rows, size]), -0.5, 0.5)  # as BCQ has it
    decoded = self._vae.decode(tf.tile(observations, [count, 1]),
                               tf.reshape(latents, [-1, size]))
    return tf.stop_gradient(tf.reshape(
        decoded, [count, rows, self.action_spec.shape[0]]))

  def _alpha_pass(self, actor: ensemble_sac_agent.ActorPass,
                  weights: Optional[tf.Tensor]) -> tf.Tensor:
    assert actor.excess is not None  # MMD − ε of the pass above
    return self._average(
        uwac.dual_objective(self._log_alpha, actor.excess), weights)


def _with_vae(info: tf_agent.LossInfo,
              vae_loss: tf.Tensor) -> tf_agent.LossInfo:
  return tf_agent.LossInfo(
      info.loss + vae_loss, {**info.extra, 'vae_loss': vae_loss})
