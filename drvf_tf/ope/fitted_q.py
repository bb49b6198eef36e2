"""Fitted Q evaluation with an interval: each member has episodes of its own."""
from collections.abc import Sequence
from typing import Callable, NamedTuple

import gin
import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec

from drvf_tf import errors
from drvf_tf.data import offline_dataset, returns
from drvf_tf.networks import ensemble_critic_network, heads
from drvf_tf.ope import importance

Network = ensemble_critic_network.EnsembleCriticNetwork
Act = Callable[[np.ndarray], np.ndarray]  # raw observations to actions

# Student's 97.5 % quantile at 1, 2, ... degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
            2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
            2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
            2.048, 2.045, 2.042)
_PORTION = 500  # train steps in one call of the graph
_CHUNK = 8_192  # rows at once


class FittedQ:
  """M fitted Q functions of one policy, in the units of the data's rewards."""

  def __init__(self, critic: Network, inputs: '_Inputs', scale: float):
    self._inputs, self._scale = inputs, scale

    @tf.function(input_signature=[
        tf.TensorSpec([None, inputs.observation_size]),
        tf.TensorSpec([None, inputs.action_size])], autograph=False)
    def mean(observations, actions):
      return critic((observations, actions))[0].mean

    self._mean = mean

  def __call__(self, observations: np.ndarray,
               actions: np.ndarray) -> np.ndarray:
    """Q of every member at raw pairs, `[M, B]`."""
    parts = [self._mean(*self._inputs(observations[i:i + _CHUNK],
                                      actions[i:i + _CHUNK])).numpy()
             for i in range(0, len(observations), _CHUNK)]
    return self._scale * np.concatenate(parts, axis=1)


class Evaluated(NamedTuple):
  """What a fit found.

  Attributes:
    values: Each member's estimate of the policy's value, `[M]`.
    q: The members.
  """
  values: np.ndarray
  q: FittedQ

  @property
  def estimate(self) -> float:
    """The mean of the members."""
    return float(self.values.mean())

  @property
  def interval(self) -> tuple[float, float]:
    """95 %: the members' spread is the bootstrap's standard error."""
    return t_interval(self.values)


@gin.configurable
class FittedQEvaluation:
  """Fits Q^π to data of another policy, M times, each to a bootstrap."""

  def __init__(self,
               num_members: int = 10,
               hidden_units: Sequence[int] = (64, 64),
               num_steps: int = 10_000,
               batch_size: int = 256,
               learning_rate: float = 1e-3,
               target_update_tau: float = 0.05,
               layer_norm: bool = True,
               seed: int = 0):
    """Checks the settings.

    Args:
      num_members: M, bootstrap samples of the episodes.
      hidden_units: Widths of the ReLU layers.
      num_steps: Of Adam; values settle in 1/(τ(1 − γ)) of them.
      batch_size: Rows of a step, shared by the members.
      learning_rate: Adam's, decayed to 0 by a cosine.
      target_update_tau: τ, the Polyak step of the targets.
      layer_norm: Whether each hidden layer is normalised.
      seed: Of everything random.
    """
    if num_members < 2:
      raise ValueError(
          f'num_members must be at least 2 for an interval, not {num_members}.')
    if min(num_steps, batch_size) < 1:
      raise ValueError('num_steps and batch_size must be at least 1.')
    self._num_members, self._hidden_units = num_members, hidden_units
    self._num_steps, self._batch_size = num_steps, batch_size
    self._learning_rate, self._tau = learning_rate, target_update_tau
    self._layer_norm, self._seed = layer_norm, seed

  def __call__(self, rows: offline_dataset.OfflineDataset, act: Act,
               gamma: float) -> Evaluated:
    """Fits.

    Args:
      rows: Raw observations, rewards as recorded.
      act: The policy, on raw observations.
      gamma: γ.

    Returns:
      The members and their values at the first states of episodes.
    """
    counts = importance.bootstrap_counts(
        rows.num_episodes, self._num_members, self._seed)  # [M, E]
    inputs, going = _Inputs(rows), returns.returns_to_go(rows, gamma)
    scale = float(going.std()) or 1.0
    critic, target = self._networks(inputs, float(going.mean()) / scale)
    self._fit(critic, target, self._table(rows, act, inputs, scale), counts,
              rows, gamma)
    q = FittedQ(critic, inputs, scale)
    first = rows.observations[rows.initial_rows()]
    at_first = q(first, act(first))  # [M, E]
    if not np.isfinite(at_first).all():
      raise errors.UserError(
          'Fitted Q evaluation diverged: try a smaller '
          'FittedQEvaluation.learning_rate.')
    return Evaluated(np.sum(counts * at_first, axis=1) / counts.sum(axis=1), q)

  def _networks(self, inputs: '_Inputs',
                start: float) -> tuple[Network, Network]:
    """The critic and its target, both of them `start` before any data."""
    # All is named: what a run's gin file says is of the run's own critic.
    critic = ensemble_critic_network.EnsembleCriticNetwork(
        inputs.specs, num_members=self._num_members,
        hidden_units=tuple(self._hidden_units), head=heads.PointHead,
        layer_norm=self._layer_norm, norm_before_activation=False, l2=0.0,
        seed=10 * self._seed + 7_000, name='FittedQ')
    critic.create_variables()
    target = critic.copy(name='FittedQTarget')
    target.create_variables()
    for one, other in zip(target.variables, critic.variables):
      one.assign(other)
    critic.prior_mean.assign(start)
    target.prior_mean.assign(start)
    return critic, target

  def _table(self, rows: offline_dataset.OfflineDataset, act: Act,
             inputs: '_Inputs', scale: float) -> list[tf.Tensor]:
    """s, a, r, discount, s', π(s') of all rows, as the networks see them."""
    pairs = inputs(rows.observations, rows.actions)
    following = inputs(rows.next_observations, act(rows.next_observations))
    return [*pairs, tf.constant(rows.rewards / np.float32(scale)),
            tf.constant(1.0 - rows.terminals.astype(np.float32)), *following]

  def _fit(self, critic: Network, target: Network, table: list[tf.Tensor],
           counts: np.ndarray, rows: offline_dataset.OfflineDataset,
           gamma: float) -> None:
    weights = tf.constant(counts, tf.float32)
    episodes = tf.constant(np.cumsum(rows.episode_ends) - rows.episode_ends,
                           tf.int32)
    rate = tf.keras.optimizers.schedules.CosineDecay(
        self._learning_rate, self._num_steps)
    adam = tf.keras.optimizers.legacy.Adam(rate)
    learned = critic.trainable_variables

    @tf.autograph.experimental.do_not_convert
    def one(step):
      drawn = tf.random.stateless_uniform(
          [self._batch_size], [self._seed, step], maxval=rows.size,
          dtype=tf.int32)
      s, a, r, discount, following, next_action = (
          tf.gather(part, drawn) for part in table)
      next_q = target((following, next_action))[0].mean  # [M, B]
      goals = fqe_target(r, discount, next_q, gamma)
      with tf.GradientTape() as tape:
        loss = fqe_loss(
            critic((s, a))[0].mean, goals,
            tf.gather(weights, tf.gather(episodes, drawn), axis=1))
      adam.apply_gradients(zip(tape.gradient(loss, learned), learned))
      for slow, fast in zip(target.trainable_variables, learned):
        slow.assign_add(self._tau * (fast - slow))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)] * 2)
    def many(first, last):
      for step in tf.range(first, last):
        one(step)

    for first in range(0, self._num_steps, _PORTION):
      many(first, min(first + _PORTION, self._num_steps))


def fqe_target(rewards: tf.Tensor, discounts: tf.Tensor, next_q: tf.Tensor,
               gamma: float) -> tf.Tensor:
  """y_j = r + γ d Q̄_j(s', π(s')), each member's own target.

  Args:
    rewards: `[B]`.
    discounts: d, 0 where the task ended in s', else 1, `[B]`.
    next_q: Q̄ of the members, `[M, B]`.
    gamma: γ.

  Returns:
    `[M, B]`, through which no gradient passes.
  """
  return tf.stop_gradient(rewards + gamma * discounts * next_q)


def fqe_loss(q: tf.Tensor, targets: tf.Tensor,
             weights: tf.Tensor) -> tf.Tensor:
  """Σ_j mean_b c_jb (Q_j(s, a) − y_j)², c how often j has drawn b's episode.

  Args:
    q: `[M, B]`.
    targets: `[M, B]`.
    weights: `[M, B]`.

  Returns:
    A scalar.
  """
  return tf.reduce_sum(
      tf.reduce_mean(weights * tf.square(q - targets), axis=1))


def t_interval(values: np.ndarray) -> tuple[float, float]:
  """mean ± t·std, std with M − 1: for values that each are an estimate.

  Args:
    values: `[M]`, drawn as the estimate itself is.

  Returns:
    Student's central 95 %, M − 1 degrees of freedom.
  """
  freedom = len(values) - 1
  factor = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96
  spread = factor * float(np.std(values, ddof=1))
  return float(values.mean()) - spread, float(values.mean()) + spread


class _Inputs:
  """Raw pairs to what the networks see: standardised, actions in [-1, 1]."""

  def __init__(self, rows: offline_dataset.OfflineDataset):
    self._mean = rows.observations.mean(axis=0, dtype=np.float64)
    self._std = rows.observations.std(axis=0, dtype=np.float64) + 1e-3
    self._centre = (rows.action_high + rows.action_low) / 2
    self._half = (rows.action_high - rows.action_low) / 2
    self.observation_size = rows.observation_size
    self.action_size = rows.actions.shape[1]

  @property
  def specs(self) -> tuple[tensor_spec.TensorSpec, tensor_spec.TensorSpec]:
    """Of an observation and an action."""
    return (tensor_spec.TensorSpec([self.observation_size], tf.float32),
            tensor_spec.TensorSpec([self.action_size], tf.float32))

  def __call__(self, observations: np.ndarray,
               actions: np.ndarray) -> list[tf.Tensor]:
    scaled = ((observations - self._mean) / self._std,
              (actions - self._centre) / self._half)
    return [tf.constant(values.astype(np.float32)) for values in scaled]
