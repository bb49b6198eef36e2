"""How good a model is on rows that it has not learned from."""
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.data import offline_dataset
from drvf_tf.dynamics import (
  dynamics_ensemble,
  model_files,
  model_fit,
  model_rows,
  rollouts,
)
from drvf_tf.losses import dynamics
from drvf_tf.networks import noise

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_ROLLOUTS = 10  # from each held-out window


class Growth(NamedTuple):
  """Errors over the length of a rollout, `[k]` each.

  An error is the root mean square over the observation's dimensions, each in
  units of its standard deviation over the data.

  Attributes:
    median: Of the rollouts.
    low: Their 10 % quantile.
    high: Their 90 % quantile.
    still: The median error of saying that nothing moves.
    uncertainty: Mean of MOPO's u on the way.
  """
  median: np.ndarray
  low: np.ndarray
  high: np.ndarray
  still: np.ndarray
  uncertainty: np.ndarray


def measure(fitted: model_files.Fitted,
            dataset: offline_dataset.OfflineDataset,
            seed: int = 0) -> dict[str, Any]:
  """All numbers of the report, in JSON's terms.

  Args:
    fitted: The model.
    dataset: What it was fitted to.
    seed: Of the draws of rollouts.

  Returns:
    Of one step: `rmse` in the units of raw observations, `relative_error` (its
    ratio to the target's own standard deviation), `coverage` by level, one
    number for each dimension, the reward last; `log_likelihood`, a mean over
    dimensions; `rank_correlation` of u and the error. Of rollouts: `growth`.
  """
  split = model_fit.split(dataset, fitted.facts['identity'])
  rows = split.held_out_rows
  prediction = fitted.model.predict(dataset.observations[rows],
                                    dataset.actions[rows])
  elites = dynamics_ensemble.Prediction(*(
      tf.gather(part, fitted.model.elites).numpy() for part in prediction))
  targets = model_rows.targets(dataset, rows)
  errors = targets - elites.mean.mean(axis=0)  # [m, D]
  spread = model_rows.targets(dataset, split.train).std(axis=0)
  units = raw_units(dataset)
  rmse = np.sqrt(np.mean(np.square(errors), axis=0))
  uncertainty = dynamics.model_uncertainty(prediction.std * units).numpy()
  return {
      'rows': len(rows),
      'rmse': (units * rmse).tolist(),
      'relative_error': (rmse / _positive(spread)).tolist(),
      'coverage': {str(level): found.tolist() for level, found
                   in coverage(elites, targets).items()},
      'log_likelihood': log_likelihood(elites, targets),
      'rank_correlation': rank_correlation(
          uncertainty, np.linalg.norm(units * errors, axis=1)),
      'growth': {name: values.tolist() for name, values in growth(
          fitted.model, dataset, split, units, seed)._asdict().items()},
  }


def raw_units(dataset: offline_dataset.OfflineDataset) -> np.ndarray:
  """What a prediction is multiplied by to be in raw units, `[obs + 1]`."""
  std = dataset.observation_std
  ones = np.ones(dataset.observation_size, np.float32)
  return np.append(ones if std is None else std, np.float32(1))


def coverage(elites: dynamics_ensemble.Prediction,
             targets: np.ndarray) -> dict[float, np.ndarray]:
  """Share of targets inside the mixture's central intervals, `[D]` each.

  Args:
    elites: `[E, m, D]`, equal parts of the mixture.
    targets: `[m, D]`.

  Returns:
    By the level of the interval, which a calibrated model's share equals.
  """
  normal = tfp.distributions.Normal(elites.mean, elites.std)
  rank = normal.cdf(targets).numpy().mean(axis=0)  # [m, D], in [0, 1]
  return {level: np.mean(np.abs(2 * rank - 1) <= level, axis=0)
          for level in LEVELS}


def log_likelihood(elites: dynamics_ensemble.Prediction,
                   targets: np.ndarray) -> float:
  """Mean over elites, rows and dimensions, in the data's units."""
  normal = tfp.distributions.Normal(elites.mean, elites.std)
  return float(np.mean(normal.log_prob(targets)))


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
  """Spearman's, of `[m]` and `[m]`; ties are broken by order."""
  ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
  return float(np.corrcoef(np.stack(ranks))[0, 1])


def growth(model: dynamics_ensemble.DynamicsEnsemble,
           dataset: offline_dataset.OfflineDataset, split: model_rows.Split,
           units: np.ndarray, seed: int) -> Growth:
  """Rollouts with the recorded actions, beside what was recorded.

  Args:
    model: The model.
    dataset: What it was fitted to.
    split: Its windows that are held out; the longest are rolled out.
    units: Of `raw_units`.
    seed: Of the draws.

  Returns:
    The errors after 1, 2, ... steps.
  """
  length = max(map(len, split.held_out))
  windows = np.repeat([window for window in split.held_out
                       if len(window) == length], _ROLLOUTS, axis=0)  # [N, k]
  draws = noise.Draws(tf.constant([seed & 0x7fffffff, 0], tf.int32))
  spread = _positive(dataset.observations.std(axis=0))
  first = dataset.observations[windows[:, 0]]
  states, errors, still, uncertainty = tf.constant(first), [], [], []
  for rows in windows.T:
    prediction = model.predict(states, tf.constant(dataset.actions[rows]))
    states += rollouts.sample(prediction, model.elites, draws)[:, :-1]
    truth = dataset.next_observations[rows]
    errors.append(_size((states - truth) / spread))
    still.append(_size((first - truth) / spread))
    uncertainty.append(dynamics.model_uncertainty(prediction.std * units))
  low, median, high = np.quantile(errors, [0.1, 0.5, 0.9], axis=1)
  return Growth(median, low, high, np.median(still, axis=1),
                np.mean(uncertainty, axis=1))


def _positive(spread: np.ndarray) -> np.ndarray:
  """What to divide by: 1 where a dimension is a constant."""
  return np.where(spread < 1e-6, 1.0, spread)


def _size(difference: np.ndarray) -> np.ndarray:
  """Root mean square over dimensions, `[N]`."""
  return np.sqrt(np.mean(np.square(difference), axis=1))
