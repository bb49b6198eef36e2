"""An ensemble of probabilistic networks p_j(s', r | s, a)."""
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from drvf_tf.losses import dynamics
from drvf_tf.networks import ensemble_layers

_SMALLEST_STD = 1e-6  # what varies less is a constant


class Prediction(NamedTuple):
  """Gaussians of (s' − s, r), in the data's units.

  Attributes:
    mean: `[M, B, obs + 1]`.
    std: `[M, B, obs + 1]`.
  """
  mean: tf.Tensor
  std: tf.Tensor


class DynamicsEnsemble(tf.Module):
  """M Gaussians of (s' − s, r) given (s, a), on stacked variables.

  Inside, inputs and targets are standardised. Every variable that is learned
  has the members as its first axis, the bounds of the log-variance as well:
  a member can be taken from one epoch and its neighbour from another.
  """

  def __init__(self,
               observation_size: int,
               action_size: int,
               num_members: int,
               num_elites: int,
               hidden_units: Sequence[int],
               log_variance_bounds: Sequence[float] = (-10.0, 0.5),
               initial_log_variance: float = -4.0,
               seed: int = 0):
    """Creates the networks.

    Args:
      observation_size: Length of an observation.
      action_size: Length of an action.
      num_members: M.
      num_elites: How many members rollouts choose from.
      hidden_units: Widths of the swish layers.
      log_variance_bounds: Where the learned bounds of the log-variance, in
        squared units of the standardised targets, start.
      initial_log_variance: Where the log-variance itself starts. Best below
        what there is to learn: networks go on beyond the data as they had to
        move on it, and one that only had to fall is surest where it has seen
        nothing.
      seed: Of the initial weights.
    """
    super().__init__(name='dynamics')
    self.observation_size, self.action_size = observation_size, action_size
    self.num_members = num_members
    width_in, width_out = observation_size + action_size, observation_size + 1
    self._layers = [
        ensemble_layers.EnsembleDense(
            num_members, units, activation='swish', bias_value=0.0,
            seed=seed + i, name=f'hidden_{i}')
        for i, units in enumerate(hidden_units)]
    self._layers.append(ensemble_layers.EnsembleDense(
        num_members, 2 * width_out, bias_value=0.0,
        seed=seed + len(hidden_units), name='output'))
    self.low, self.high = (
        tf.Variable(tf.fill([num_members, 1, width_out], float(bound)))
        for bound in log_variance_bounds)
    self._input_mean, self._input_std = _constants(width_in)
    self._target_mean, self._target_std = _constants(width_out)
    self.elites = tf.Variable(tf.range(num_elites), trainable=False)
    self([tf.zeros([1, width_in])] * num_members)  # creates the variables
    last = self._layers[-1]
    halves = tf.constant([1.0] * width_out + [0.0] * width_out)
    last.kernel.assign(last.kernel * halves)
    last.bias.assign(last.bias + initial_log_variance * (1.0 - halves))

  @property
  def kernels(self) -> list[tf.Variable]:
    """Of each layer, `[M, in, out]`."""
    return [layer.kernel for layer in self._layers]

  def standardise(self, inputs: np.ndarray, targets: np.ndarray) -> None:
    """Takes means and standard deviations from rows to learn from."""
    for mean, std, rows, instead in (
        (self._input_mean, self._input_std, inputs, 1.0),
        # A constant target is predicted without noise.
        (self._target_mean, self._target_std, targets, _SMALLEST_STD)):
      mean.assign(rows.mean(axis=0, dtype=np.float64))
      found = rows.std(axis=0, dtype=np.float64)
      std.assign(np.where(found < _SMALLEST_STD, instead, found))

  def standard_inputs(self, inputs: tf.Tensor) -> tf.Tensor:
    """Inputs in their standard units."""
    return (inputs - self._input_mean) / self._input_std

  def standard_targets(self, targets: tf.Tensor) -> tf.Tensor:
    """Targets in their standard units."""
    return (targets - self._target_mean) / self._target_std

  def __call__(self, rows: ensemble_layers.Members
               ) -> tuple[tf.Tensor, tf.Tensor]:
    """Each member on its own rows, all in standard units.

    Args:
      rows: M tensors `[B, obs + act]`.

    Returns:
      (mean, log-variance), `[M, B, obs + 1]` each.
    """
    for layer in self._layers:
      rows = layer(rows)
    mean, log_variance = tf.split(tf.stack(rows), 2, axis=-1)
    return mean, dynamics.bound_log_variance(
        log_variance, self.low, self.high)

  def predict(self, observations: tf.Tensor,
              actions: tf.Tensor) -> Prediction:
    """What every member says of (s, a), in the data's units."""
    rows = self.standard_inputs(tf.concat([observations, actions], axis=-1))
    mean, log_variance = self([rows] * self.num_members)
    return Prediction(mean * self._target_std + self._target_mean,
                      tf.exp(0.5 * log_variance) * self._target_std)

  def arrays(self) -> dict[str, tf.Variable]:
    """All that the model is, by name."""
    named = {f'{part}_{i}': getattr(layer, part)
             for i, layer in enumerate(self._layers)
             for part in ('kernel', 'bias')}
    return {**named, 'low': self.low, 'high': self.high,
            'input_mean': self._input_mean, 'input_std': self._input_std,
            'target_mean': self._target_mean, 'target_std': self._target_std,
            'elites': self.elites}

  @classmethod
  def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> 'DynamicsEnsemble':
    """The model that has given such `arrays`."""
    depth = sum(name.startswith('kernel_') for name in arrays)
    members, width_in, _ = arrays['kernel_0'].shape
    observation_size = len(arrays['target_mean']) - 1
    model = cls(
        observation_size, width_in - observation_size, members,
        len(arrays['elites']),
        [arrays[f'bias_{i}'].shape[1] for i in range(depth - 1)])
    for name, variable in model.arrays().items():
      variable.assign(arrays[name])
    return model


def _constants(width: int) -> tuple[tf.Variable, tf.Variable]:
  """A mean of 0 and a standard deviation of 1."""
  return (tf.Variable(tf.zeros([width]), trainable=False),
          tf.Variable(tf.ones([width]), trainable=False))
