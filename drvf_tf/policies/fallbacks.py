"""What to do where the data do not support the policy's action."""
from collections.abc import Sequence
from typing import Union

import gin
import numpy as np
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset

Fallback = Union['Constant', 'BehaviourCloning']


class Constant(tf.Module):
  """One safe action."""

  def __init__(self, action: Sequence[float]):
    super().__init__(name='constant_fallback')
    self._action = tf.Variable(
        action, trainable=False, dtype=tf.float32, name='action')

  def __call__(self, observation: tf.Tensor) -> tf.Tensor:
    """The action, once for each row."""
    return tf.tile(self._action[tf.newaxis], [tf.shape(observation)[0], 1])


@gin.configurable
class BehaviourCloning(tf.Module):
  """The data's mean action: a small network fitted by least squares."""

  def __init__(self,
               dataset: offline_dataset.OfflineDataset,
               num_steps: int = 3_000,
               batch_size: int = 256,
               hidden_units: Sequence[int] = (128, 128),
               learning_rate: float = 1e-3,
               seed: int = 0):
    """Fits the network.

    Args:
      dataset: What to clone.
      num_steps: Of Adam.
      batch_size: Rows of a step.
      hidden_units: Widths of the ReLU layers.
      learning_rate: Adam's, decayed to 0 by a cosine.
      seed: Of the initial weights and of the batches.
    """
    super().__init__(name='behaviour_cloning')
    low, high = dataset.action_low, dataset.action_high
    self._centre, self._radius = (high + low) / 2, (high - low) / 2
    self._mean = np.mean(dataset.observations, axis=0, dtype=np.float32)
    self._std = np.std(dataset.observations, axis=0, dtype=np.float32) + 1e-3
    self._layers = _Perceptron(
        dataset.observation_size, [*hidden_units, len(low)], seed)
    self._fit(dataset, num_steps, batch_size, learning_rate, seed)
    if dataset.observation_mean is not None:
      # From here on observations come raw.
      self._mean = (dataset.observation_mean
                    + self._mean * dataset.observation_std)
      self._std = self._std * dataset.observation_std

  def __call__(self, observation: tf.Tensor) -> tf.Tensor:
    """Cloned actions, `[B, obs]` to `[B, act]`."""
    rows = self._layers((observation - self._mean) / self._std)
    return tf.tanh(rows) * self._radius + self._centre

  def _fit(self, dataset, num_steps, batch_size, learning_rate, seed):
    observations = tf.constant(dataset.observations)
    actions = tf.constant(dataset.actions)
    adam = tf.keras.optimizers.legacy.Adam(
        tf.keras.optimizers.schedules.CosineDecay(learning_rate, num_steps))
    variables = self._layers.trainable_variables

    @tf.function
    def fit():
      for step in tf.range(num_steps):
        rows = tf.random.stateless_uniform(
            [batch_size], [seed, step], maxval=dataset.size, dtype=tf.int32)
        with tf.GradientTape() as tape:
          error = self(tf.gather(observations, rows)) - tf.gather(actions, rows)
          loss = tf.reduce_mean(tf.square(error))
        adam.apply_gradients(zip(tape.gradient(loss, variables), variables))

    fit()


class _Perceptron(tf.Module):
  """Dense layers, ReLU between them."""

  def __init__(self, width: int, units: Sequence[int], seed: int):
    super().__init__(name='perceptron')
    self._parameters = []
    for i, size in enumerate(units):
      limit = np.sqrt(6.0 / width)
      kernel = tf.random.stateless_uniform(
          [width, size], [seed, i], -limit, limit)
      self._parameters.append((tf.Variable(kernel, name=f'kernel_{i}'),
                               tf.Variable(tf.zeros([size]), name=f'bias_{i}')))
      width = size

  def __call__(self, rows: tf.Tensor) -> tf.Tensor:
    *hidden, (kernel, bias) = self._parameters
    for hidden_kernel, hidden_bias in hidden:
      rows = tf.nn.relu(tf.matmul(rows, hidden_kernel) + hidden_bias)
    return tf.matmul(rows, kernel) + bias


def parse(text: str, dataset: offline_dataset.OfflineDataset
          ) -> Union[Fallback, None]:
  """The fallback that a flag names.

  Args:
    text: 'none', 'bc', or 'constant:' and one number for each action.
    dataset: What the policy was trained on.

  Returns:
    The fallback, or None.

  Raises:
    UserError: The text names no fallback.
  """
  if text == 'none':
    return None
  if text == 'bc':
    return BehaviourCloning(dataset)
  kind, _, values = text.partition(':')
  low, high = dataset.action_low, dataset.action_high
  try:
    action = np.array([float(v) for v in values.split(',')], np.float32)
  except ValueError:
    action = np.zeros(0, np.float32)
  if kind != 'constant' or action.shape != low.shape:
    raise errors.UserError(
        f'--fallback={text} names no fallback: use none, bc, or constant: and '
        f'{len(low)} numbers, e.g. --fallback=constant:'
        f'{",".join(["0"] * len(low))}.')
  if not ((low <= action) & (action <= high)).all():
    raise errors.UserError(
        f'--fallback={text} is out of the action bounds: stay between '
        f'{low.tolist()} and {high.tolist()}.')
  return Constant(action.tolist())
