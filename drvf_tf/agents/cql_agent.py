"""CQL: TF-Agents' own agent, its draws made functions of seed and step."""
import threading
import warnings
from collections.abc import Iterator
from typing import Any, Optional

import gin
import numpy as np
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.agents.cql import cql_sac_agent
from tf_agents.networks import network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts
from drvf_tf.networks import noise

# What noise is drawn for; each has a stream of its own.
_TARGET_OR_TEMPERATURE, _ACTOR, _PENALTY, _UNIFORM = range(4)


class _PenaltyPass(threading.local):
  """Where `_cql_loss` is and what it saw, in each replica's thread."""

  def __init__(self):
    self.start()

  def start(self) -> None:
    """Forgets the last pass."""
    # TF-Agents asks for Q at three sets of pairs, in this order.
    self.asked: Iterator[str] = iter(('q_policy', 'q_uniform', 'q_data'))
    self.seen: dict[str, tf.Tensor] = {}


@gin.configurable
class CqlAgent(cql_sac_agent.CqlSacAgent):
  """Kumar et al. (2020), CQL(H); losses and updates are TF-Agents'."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               learners: agent_parts.ActorAndCritics,
               alpha_optimizer: types.Optimizer,
               cql_alpha: float = 10.0,
               num_cql_samples: int = 10,
               include_critic_entropy_term: bool = False,
               use_lagrange_cql_alpha: bool = False,
               cql_alpha_learning_rate: float = 3e-4,
               cql_tau: float = 1.0,
               num_bc_steps: int = 0,
               gamma: float = 0.99,
               target_update_tau: float = 0.005,
               target_entropy: Optional[float] = None,
               seed: int = 0,
               train_step_counter: Optional[tf.Variable] = None,
               name: Optional[str] = None):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One continuous action vector, all bounds alike.
      learners: The actor gives a tanh-Gaussian.
      alpha_optimizer: Of the temperature.
      cql_alpha: Weight of the conservative term, or where it starts.
      num_cql_samples: Actions sampled from the policy, and as many uniform.
      include_critic_entropy_term: Whether targets include the entropy.
      use_lagrange_cql_alpha: Whether the weight is tuned.
      cql_alpha_learning_rate: Adam's, of that weight.
      cql_tau: The gap that the weight is tuned towards.
      num_bc_steps: Train steps in which the actor clones first.
      gamma: Discount γ.
      target_update_tau: Polyak step of the target critics.
      target_entropy: Of the policy; −dim(A) by default.
      seed: Of all random draws in training; see `networks/noise.py`.
      train_step_counter: Counts train steps; the agent's own by default.
      name: Name of the agent.
    """
    agent_parts.check_action_spec(action_spec)
    if num_cql_samples < 1:
      raise ValueError(
          f'num_cql_samples must be at least 1, not {num_cql_samples}.')
    if cql_alpha <= 0:
      raise ValueError(f'cql_alpha must be positive, not {cql_alpha}.')
    if target_entropy is None:
      target_entropy = -float(action_spec.shape.num_elements())
    if train_step_counter is None:
      train_step_counter = agent_parts.own_train_step()
    actor, (critic_1, critic_2), actor_optimizer, critic_optimizer = learners
    super().__init__(
        time_step_spec, _with_scalar_bounds(action_spec), critic_1,
        actor, actor_optimizer, critic_optimizer, alpha_optimizer,
        cql_alpha=cql_alpha, num_cql_samples=num_cql_samples,
        include_critic_entropy_term=include_critic_entropy_term,
        use_lagrange_cql_alpha=use_lagrange_cql_alpha, cql_tau=cql_tau,
        num_bc_steps=num_bc_steps, critic_network_2=critic_2,
        target_critic_network=critic_1.copy(name='TargetCritic1'),
        target_critic_network_2=critic_2.copy(name='TargetCritic2'),
        target_update_tau=target_update_tau, gamma=gamma,
        target_entropy=target_entropy, train_step_counter=train_step_counter,
        name=name)
    self._seed = seed
    self._penalty = _PenaltyPass()
    if use_lagrange_cql_alpha:
      self._cql_alpha_optimizer = tf.keras.optimizers.legacy.Adam(
          cql_alpha_learning_rate)
      # `_cql_loss` is this replica's share, and so must be its threshold.
      self._cql_tau /= tf.distribute.get_strategy().num_replicas_in_sync
    self.initialize()  # the targets start as copies

  @property
  def gamma(self) -> float:
    """The discount γ."""
    return self._gamma

  @property
  def actor_network(self) -> network.Network:
    """The actor."""
    return self._actor_network

  @tf.autograph.experimental.do_not_convert
  def _train(self, experience, weights):
    time_steps, policy_steps, next_time_steps = self._as_transition(experience)
    agent_parts.check_batch(
        time_steps, policy_steps.action, next_time_steps)
    temperature = tf.exp(self._log_alpha)
    with warnings.catch_warnings():
      # What AutoGraph makes of TF-Agents' `is not ()`.
      warnings.simplefilter('ignore', SyntaxWarning)
      info = super()._train(experience, weights)
    seen = self._penalty.seen
    extra = info.extra
    return tf_agent.LossInfo(info.loss, {
        'critic_loss': extra.critic_loss + extra.cql_loss * extra.cql_alpha,
        'td_loss': extra.critic_loss / self._critic_loss_weight,
        'cql_loss': extra.cql_loss,
        'cql_alpha': agent_parts.share(extra.cql_alpha),
        'actor_loss': extra.actor_loss,
        'alpha_loss': extra.alpha_loss,
        'temperature': agent_parts.share(temperature),
        **{name: agent_parts.share(values) for name, values in seen.items()}})

  def _draws(self, purpose: int) -> noise.Draws:
    step = noise.Draws.at_step(self._seed, self.train_step_counter)
    return noise.Draws(
        tf.random.experimental.stateless_fold_in(step.seed(), purpose))

  # TF-Agents' `actor_loss` is converted by AutoGraph, with all it calls.
  @tf.autograph.experimental.do_not_convert
  def _actions_and_log_probs(self, time_steps, training=False):
    """Actions and log π of the target, the actor or the temperature."""
    draws = self._draws(_ACTOR if training else _TARGET_OR_TEMPERATURE)
    return self._sample(time_steps.observation, [], draws)

  def _sample_and_transpose_actions_and_log_probs(
      self, time_steps, num_action_samples, training=False):
    """Actions and log π of the conservative term, `[B, samples, ...]`."""
    actions, log_pi = self._sample(
        time_steps.observation, [num_action_samples], self._draws(_PENALTY))
    self._penalty.seen['entropy'] = -log_pi
    return (self._transpose_tile_and_batch_dims(actions),
            self._transpose_tile_and_batch_dims(log_pi))

  def _sample(self, observations: tf.Tensor, outer: list[int],
              draws: noise.Draws) -> Any:
    distribution, _ = self._actor_network(observations)
    shape = [*outer, tf.shape(observations)[0], self.action_spec.shape[0]]
    return noise.sample_actions(distribution, draws.normal(shape))

  def _cql_loss(self, time_steps, actions, training=False):
    """TF-Agents' conservative term, as this replica's share of a mean."""
    self._penalty.start()
    return tf.nn.scale_regularization_loss(
        super()._cql_loss(time_steps, actions, training))

  def _get_q_values(self, target_input, step_type, reshape_batch_size,
                    training=False):
    """Q at the pairs that `_cql_loss` asks for next."""
    asked = next(self._penalty.asked)
    if asked == 'q_uniform':  # TF-Agents drew them; ours take their place
      target_input = (target_input[0],
                      self._uniform_actions(reshape_batch_size))
    q_1, q_2 = super()._get_q_values(
        target_input, step_type, reshape_batch_size, training)
    self._penalty.seen[asked] = (q_1 + q_2) / 2
    return q_1, q_2

  def _uniform_actions(self, batch_size: int) -> tf.Tensor:
    """`[batch_size * samples, act]`."""
    spec = self.action_spec
    uniform = self._draws(_UNIFORM).uniform(
        [self._num_cql_samples, batch_size, spec.shape[0]])
    actions = spec.minimum + (spec.maximum - spec.minimum) * uniform
    return tf.reshape(
        self._transpose_tile_and_batch_dims(actions), [-1, spec.shape[0]])


def _with_scalar_bounds(
    spec: types.BoundedTensorSpec) -> types.BoundedTensorSpec:
  """The same spec in the only form whose density TF-Agents has right.

  It multiplies the log-density of uniform actions by dim(A) after summing it
  over the bounds that the spec names.
  """
  bounds = [np.unique(bound) for bound in (spec.minimum, spec.maximum)]
  if any(len(bound) > 1 for bound in bounds):
    raise ValueError(
        'action_spec must have the same bounds in all dimensions for CQL, not '
        f'{spec}: scale the actions.')
  return tensor_spec.BoundedTensorSpec(
      spec.shape, spec.dtype, bounds[0][0], bounds[1][0], spec.name)
