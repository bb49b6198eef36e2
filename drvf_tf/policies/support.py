"""How sure the critic is on data and off it: quantiles, the gate's rates."""
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.policies import uncertainty_policy

QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999)


class Support(NamedTuple):
  """What q_std is on rows of data.

  Attributes:
    threshold: The gate's.
    report: Quantiles, rates and AUROC, in JSON's terms.
  """
  threshold: float
  report: dict[str, Any]


def measure(policy: uncertainty_policy.UncertaintyPolicy,
            rows: offline_dataset.OfflineDataset,
            description: str,
            gate_quantile: float = 0.99,
            max_rows: int = 10_000,
            seed: int = 0) -> Support:
  """Sets the gate's threshold and measures how often it closes.

  The threshold is a quantile of q_std(s, a) over every other episode of the
  rows; the rates are measured in the episodes between.

  Args:
    policy: The policy.
    rows: Transitions, best such that were not trained on.
    description: What the rows are, for the report.
    gate_quantile: Which quantile of q_std.
    max_rows: How many rows of either half are used at the most.
    seed: Of the choice of rows and of the uniform actions.

  Returns:
    The threshold and the report.
  """
  if not 0 < gate_quantile <= 1:
    raise errors.UserError(
        f'gate_quantile must be above 0 and at most 1, not {gate_quantile}: '
        '0.99 closes the gate on about one row of data in a hundred.')
  rng = np.random.default_rng(seed)
  half, other = _halves(rows, max_rows, rng)
  q_std = _scorer(policy, rows)
  reference = q_std(half, rows.actions[half])
  threshold = float(np.quantile(reference, gate_quantile))
  uniform = rng.uniform(rows.action_low, rows.action_high,
                        [len(other), len(rows.action_low)])
  found = {
      'data_actions': q_std(other, rows.actions[other]),
      'policy_actions': q_std(other, None),
      'uniform_actions': q_std(other, uniform.astype(np.float32)),
  }
  return Support(threshold, {
      'rows': description,
      'num_rows': len(half) + len(other),
      'q_std_quantiles': {
          str(q): float(np.quantile(reference, q)) for q in QUANTILES},
      'q_std_mean': {name: float(np.mean(v)) for name, v in found.items()},
      'gate_quantile': gate_quantile,
      'gate_threshold': threshold,
      'gate_closed': {
          name: float(np.mean(v > threshold)) for name, v in found.items()},
      'auroc_uniform_actions': auroc(
          found['data_actions'], found['uniform_actions']),
  })


def auroc(negatives: np.ndarray, positives: np.ndarray) -> float:
  """How likely a positive is above a negative; ties count one half."""
  order = np.sort(negatives)
  below = np.searchsorted(order, positives, 'left')
  not_above = np.searchsorted(order, positives, 'right')
  return float(np.mean((below + not_above) / 2) / len(order))


def raw_observations(rows: offline_dataset.OfflineDataset) -> np.ndarray:
  """Observations as the environment gives them."""
  if rows.observation_mean is None or rows.observation_std is None:
    return rows.observations
  return rows.observations * rows.observation_std + rows.observation_mean


def _halves(rows: offline_dataset.OfflineDataset, max_rows: int,
            rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
  """Rows of even and of odd episodes; of a single episode the same twice."""
  episode = np.cumsum(rows.episode_ends) - rows.episode_ends
  halves = [np.flatnonzero(episode % 2 == parity) for parity in (0, 1)]
  if not len(halves[1]):
    halves[1] = halves[0]
  return tuple(
      np.sort(rng.choice(half, min(max_rows, len(half)), replace=False))
      for half in halves)  # type: ignore[return-value]


def _scorer(policy, rows):
  """q_std at rows, for given actions or the policy's own."""
  observations = raw_observations(rows)

  def q_std(indices, actions, chunk=2_048):
    parts = []
    for i in range(0, len(indices), chunk):
      observation = tf.constant(observations[indices[i:i + chunk]])
      action = (policy.greedy(observation) if actions is None
                else tf.constant(actions[i:i + chunk]))
      parts.append(policy.statistics(observation, action)['q_std'].numpy())
    return np.concatenate(parts)

  return q_std
