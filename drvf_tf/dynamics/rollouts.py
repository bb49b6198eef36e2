"""Rollouts of a policy in a dynamics model, inside the graph."""
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from drvf_tf.dynamics import dynamics_ensemble, terminations
from drvf_tf.losses import dynamics
from drvf_tf.networks import noise


class Rollouts:
  """What a model says would happen: rows (s, a, r − λu, discount, s')."""

  def __init__(self,
               model: dynamics_ensemble.DynamicsEnsemble,
               policy: Any,
               length: int,
               penalty: float,
               termination: terminations.Termination,
               observation_mean: Optional[np.ndarray] = None,
               observation_std: Optional[np.ndarray] = None):
    """Creates them.

    Args:
      model: The model.
      policy: Observations to (distribution, state): an actor network.
      length: h, steps of a rollout at the most.
      penalty: λ of MOPO's penalty; 0 for none.
      termination: Of observations as the task gives them.
      observation_mean: Where the data's observations are normalised.
      observation_std: Where the data's observations are normalised.
    """
    self._model, self._policy = model, policy
    self._length, self._penalty = length, penalty
    self._termination = termination
    size = model.observation_size
    self._mean = _or(observation_mean, np.zeros(size))
    self._std = _or(observation_std, np.ones(size))
    self._graph = tf.function(self._roll, input_signature=[
        tf.TensorSpec([None, size]), tf.TensorSpec([2], tf.int32)])

  def __call__(self, observations: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Rolls out from each observation until it ends.

    Args:
      observations: `[N, obs]`.
      seed: Stateless seed of every draw, int32 `[2]`.

    Returns:
      `[R, 2·obs + act + 2]`, N ≤ R ≤ N·h: first steps first. What would follow
      a terminal state is left out.
    """
    return self._graph(observations, seed)

  @tf.autograph.experimental.do_not_convert
  def _roll(self, observations: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    draws = noise.Draws(seed)
    alive = tf.ones(tf.shape(observations)[:1], tf.bool)
    found = []
    for _ in range(self._length):
      actions = self._actions(observations, draws)
      following, rewards = self._step(observations, actions, draws)
      ended = self._termination(following * self._std + self._mean)
      discounts = 1.0 - tf.cast(ended, tf.float32)
      rows = tf.concat([observations, actions, rewards[:, tf.newaxis],
                        discounts[:, tf.newaxis], following], axis=1)
      found.append(tf.boolean_mask(rows, alive))
      alive &= ~ended
      observations = following
    return tf.concat(found, axis=0)

  def _actions(self, observations: tf.Tensor,
               draws: noise.Draws) -> tf.Tensor:
    """a ~ π(·|s), `[N, act]`."""
    distribution, _ = self._policy(observations)
    shape = [tf.shape(observations)[0], self._model.action_size]
    return noise.sample_actions(distribution, draws.normal(shape))[0]

  def _step(self, observations: tf.Tensor, actions: tf.Tensor,
            draws: noise.Draws) -> tuple[tf.Tensor, tf.Tensor]:
    """s' `[N, obs]` and r − λu `[N]`, each row of an elite of its own."""
    prediction = self._model.predict(observations, actions)
    sampled = sample(prediction, self._model.elites, draws)  # [N, obs + 1]
    change, rewards = sampled[:, :-1], sampled[:, -1]
    if self._penalty:
      rewards -= self._penalty * dynamics.model_uncertainty(
          prediction.std * tf.concat([self._std, [1.0]], axis=0))
    return observations + change, rewards


def sample(prediction: dynamics_ensemble.Prediction, elites: tf.Tensor,
           draws: noise.Draws) -> tf.Tensor:
  """One draw for each row, from an elite drawn for that row.

  Args:
    prediction: `[M, N, D]`.
    elites: Numbers of members, `[E]`.
    draws: Where noise comes from.

  Returns:
    `[N, D]`.
  """
  count = tf.shape(prediction.mean)[1]
  drawn = tf.random.stateless_uniform(
      [count], draws.seed(), maxval=tf.shape(elites)[0], dtype=tf.int32)
  where = tf.stack([tf.gather(elites, drawn), tf.range(count)], axis=1)
  mean, std = (tf.gather_nd(part, where) for part in prediction)  # [N, D]
  return mean + std * draws.normal([count, prediction.mean.shape[2]])


def _or(values: Optional[np.ndarray], otherwise: np.ndarray) -> tf.Tensor:
  return tf.constant(otherwise if values is None else values, tf.float32)
