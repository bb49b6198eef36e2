"""The exact last-layer Γ of Eq. (11) beside the variational std."""
from typing import Any

import numpy as np
import tensorflow as tf

from drvf_tf.data import offline_dataset
from drvf_tf.networks import heads, statistics
from drvf_tf.uncertainty import points as points_lib
from drvf_tf.uncertainty import ranks_and_distances

_CHUNK = 2_048


def compare(critic: Any, data: offline_dataset.OfflineDataset,
            points: points_lib.Points, num_rows: int,
            rng: np.random.Generator) -> dict[str, Any]:
  """Γ and the posterior's std of ψᵀw, member by member.

  Λ is summed over a subset of the data and scaled to all of it; λ = 1 is the
  precision of the standard normal prior, and the constant feature of the bias
  is one of ψ. Γ takes the targets' noise for 1, so that a ratio that is not 1
  says little; how it differs in and out of distribution says more.

  Args:
    critic: The run's critic network.
    data: What it was trained on.
    points: Where to compare.
    num_rows: Rows of the data for Λ, at the most.
    rng: Of the choice of rows.

  Returns:
    Means over members of the rank correlation and of the median ratio std/Γ;
    or, for a head without a posterior, the reason why there is nothing.
  """
  head = getattr(critic, 'head', None)
  if not isinstance(head, heads.BayesianHead):
    return {'absent': f'{type(head).__name__} has no Bayesian last layer, so '
                      'there is no posterior to compare Γ with'}
  rows = np.sort(rng.choice(
      data.size, min(num_rows, data.size), replace=False))
  data_features = _with_bias(_features(
      critic, data.observations[rows], data.actions[rows]))
  data_features *= np.sqrt(data.size / len(rows))
  features = _features(
      critic, _normalized(points.observations, data), points.actions)
  std = np.sqrt(head.moments(tf.constant(features))[1].numpy())  # [M, B]
  correlations, ratios = [], []
  for psi, psi_data, member_std in zip(
      _with_bias(features), data_features, std):
    gamma = statistics.exact_lcb_penalty(
        tf.constant(psi), tf.constant(psi_data)).numpy()
    correlations.append(ranks_and_distances.spearman(gamma, member_std))
    ratio = member_std / gamma
    ratios.append([np.median(ratio[~points.is_ood]),
                   np.median(ratio[points.is_ood])])
  ratio_in, ratio_out = np.mean(ratios, axis=0)
  return {
      'spearman': float(np.mean(correlations)),
      'spearman_by_member': [float(c) for c in correlations],
      'std_over_gamma_in': float(ratio_in),
      'std_over_gamma_out': float(ratio_out),
      'rows': len(rows),
      'prior_precision': 1.0,
  }


def _normalized(observations: np.ndarray,
                data: offline_dataset.OfflineDataset) -> np.ndarray:
  if data.observation_mean is None:
    return observations
  return (observations - data.observation_mean) / data.observation_std


def _features(critic: Any, observations: np.ndarray,
              actions: np.ndarray) -> np.ndarray:
  """ψ, `[M, B, d]`."""
  return np.concatenate([
      critic.features((tf.constant(observations[i:i + _CHUNK]),
                       tf.constant(actions[i:i + _CHUNK]))).numpy()
      for i in range(0, len(actions), _CHUNK)], axis=1)


def _with_bias(features: np.ndarray) -> np.ndarray:
  """ψ and the constant feature of the bias, `[M, B, d + 1]`.

  In float64: Λ's eigenvalues span more than float32 resolves.
  """
  ones = np.ones_like(features[..., :1])
  return np.concatenate([features, ones], axis=-1).astype(np.float64)
