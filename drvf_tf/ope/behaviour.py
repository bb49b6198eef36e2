"""The policy that recorded: known by its densities, or cloned."""
from collections.abc import Sequence
from typing import Optional

import gin
import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec

from drvf_tf.data import offline_dataset
from drvf_tf.networks import actor_network, noise

_LARGEST = 0.9999  # an action at its bound counts as just inside, of ±1
_CHUNK = 8_192


@gin.configurable
class Behaviour:
  """A tanh-Gaussian clone of what recorded the data, by likelihood.

  A greedy policy has no density. What importance sampling evaluates in its
  place is the greedy action with the clone's own noise: `log_ratios`.
  """

  def __init__(self,
               rows: offline_dataset.OfflineDataset,
               hidden_units: Sequence[int] = (128, 128),
               num_steps: int = 3_000,
               batch_size: int = 256,
               learning_rate: float = 1e-3,
               seed: int = 0):
    """Fits the clone.

    Args:
      rows: Raw observations.
      hidden_units: Widths of the ReLU layers.
      num_steps: Of Adam.
      batch_size: Rows of a step.
      learning_rate: Adam's, decayed to 0 by a cosine.
      seed: Of weights, batches and noise.
    """
    self._rows = rows
    self._mean = rows.observations.mean(axis=0, dtype=np.float64)
    self._std = rows.observations.std(axis=0, dtype=np.float64) + 1e-3
    self._centre = (rows.action_high + rows.action_low) / 2
    self._half = (rows.action_high - rows.action_low) / 2
    size = rows.observation_size
    self._network = actor_network.tanh_gaussian_actor(
        tensor_spec.TensorSpec([size], tf.float32),
        tensor_spec.BoundedTensorSpec([rows.actions.shape[1]], tf.float32,
                                      -1.0, 1.0),
        hidden_units=tuple(hidden_units), log_std_bounds=(-5.0, 2.0),
        head_range=1e-3, bias_value=0.1, layer_norm=False, seed=seed)
    self._network.create_variables()
    self._fit(num_steps, batch_size, learning_rate, seed)
    self._gaussian = tf.function(
        self._moments, input_signature=[tf.TensorSpec([None, size])],
        autograph=False)

  def log_ratios(self, greedy: np.ndarray) -> np.ndarray:
    """log π_σ(a|s) − log μ(a|s) at every row, `[size]`.

    Args:
      greedy: The policy's action at every row, `[size, act]`; π_σ is it with
        the clone's noise. μ is the recorder's where its densities are in the
        data, else the clone.
    """
    rows = self._rows
    mean, std = self.gaussian(rows.observations)
    taken = self._unsquashed(rows.actions)
    own = _log_normal(taken, self._unsquashed(greedy), std)
    known = rows.behaviour_log_probs
    if known is None:  # what the squashing adds is the same on both sides
      return own - _log_normal(taken, mean, std)
    slope = np.log(self._half * (1.0 - np.tanh(taken)**2)).sum(axis=1)
    return own - slope - known

  def noisy(self, observations: np.ndarray, greedy: np.ndarray,
            seed: int = 0) -> np.ndarray:
    """A draw of π_σ at each observation."""
    _, std = self.gaussian(observations)
    noise_ = np.random.default_rng(seed).normal(size=std.shape)
    return (np.tanh(self._unsquashed(greedy) + std * noise_) * self._half
            + self._centre).astype(np.float32)

  def gaussian(self, observations: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:
    """Mean and std of the clone before tanh, `[B, act]` each."""
    scaled = ((observations - self._mean) / self._std).astype(np.float32)
    parts = [self._gaussian(scaled[i:i + _CHUNK])
             for i in range(0, len(scaled), _CHUNK)]
    mean, std = (np.concatenate([part[i].numpy() for part in parts])
                 for i in (0, 1))
    return mean.astype(np.float64), std.astype(np.float64)

  def _moments(self, scaled: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    distribution, _ = self._network(scaled)
    inner = distribution.input_distribution
    return inner.mean(), inner.stddev()

  def _unsquashed(self, actions: np.ndarray) -> np.ndarray:
    inside = (actions.astype(np.float64) - self._centre) / self._half
    return np.arctanh(np.clip(inside, -_LARGEST, _LARGEST))

  def _fit(self, num_steps: int, batch_size: int, learning_rate: float,
           seed: int) -> None:
    rows = self._rows
    observations = tf.constant(
        ((rows.observations - self._mean) / self._std).astype(np.float32))
    actions = tf.constant(
        ((rows.actions - self._centre) / self._half).astype(np.float32))
    adam = tf.keras.optimizers.legacy.Adam(
        tf.keras.optimizers.schedules.CosineDecay(learning_rate, num_steps))
    variables = self._network.trainable_variables

    @tf.autograph.experimental.do_not_convert
    def one(step):
      drawn = tf.random.stateless_uniform(
          [batch_size], [seed, step], maxval=rows.size, dtype=tf.int32)
      with tf.GradientTape() as tape:
        distribution, _ = self._network(tf.gather(observations, drawn))
        loss = -tf.reduce_mean(noise.log_likelihood(
            distribution, tf.gather(actions, drawn)))
      gradients, _ = tf.clip_by_global_norm(
          tape.gradient(loss, variables), 10.0)
      adam.apply_gradients(zip(gradients, variables))

    @tf.function
    def fit():
      for step in tf.range(num_steps):
        one(step)

    fit()


def by_episode(values: np.ndarray, rows: offline_dataset.OfflineDataset,
               after: Optional[np.ndarray] = None) -> np.ndarray:
  """Rows to `[E, T]`, padded with 0; `[E, T + 1]` with what comes `after`.

  Args:
    values: `[size]`.
    rows: Whose episodes.
    after: One value to follow each episode's last, `[E]`.
  """
  lengths = rows.episode_lengths()
  result = np.zeros([len(lengths), lengths.max() + (after is not None)])
  episode = np.cumsum(rows.episode_ends) - rows.episode_ends
  step = np.arange(rows.size) - rows.initial_rows()[episode]
  result[episode, step] = values
  if after is not None:
    result[np.arange(len(lengths)), lengths] = after
  return result


def _log_normal(x: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
  """log N(x; mean, std²), summed over entries: `[B]`."""
  return np.sum(-0.5 * np.square((x - mean) / std) - np.log(std)
                - 0.5 * np.log(2 * np.pi), axis=1)
