"""How well an ensemble critic's q_std tells data from what is not data."""
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from drvf_tf.data import offline_dataset
from drvf_tf.policies import support, uncertainty_policy
from drvf_tf.runs import restoring
from drvf_tf.uncertainty import last_layer, ranks_and_distances
from drvf_tf.uncertainty import points as points_lib

_CHUNK = 2_048


class Measured(NamedTuple):
  """What one run's critic says of the points.

  Attributes:
    q_std: `[B]`.
    numbers: In JSON's terms.
  """
  q_std: np.ndarray
  numbers: dict[str, Any]


def measure(run: restoring.RestoredRun, points: points_lib.Points,
            num_rows: int, seed: int) -> Measured:
  """Scores the points and compares them in numbers.

  Args:
    run: The run.
    points: Pairs in and out of distribution.
    num_rows: Rows of data for the coverage and for Γ, at the most.
    seed: Of the choice of rows.

  Returns:
    q_std at the points, and the numbers.
  """
  policy = uncertainty_policy.of_agent(run.agent, run.dataset)
  q_std = statistics(policy, points.observations, points.actions)['q_std']
  is_ood = points.is_ood
  rng = np.random.default_rng(seed)
  return Measured(q_std, {
      'agent': type(run.agent).__name__,
      'task': run.facts['task'],
      'step': run.step,
      'seed': run.facts['seed'],
      'num_members': run.agent.critic_network.num_members,
      'num_samples': run.agent.num_samples,
      'num_points': int(len(q_std)),
      'auroc': support.auroc(q_std[~is_ood], q_std[is_ood]),
      'q_std_in': float(q_std[~is_ood].mean()),
      'q_std_out': float(q_std[is_ood].mean()),
      'distance_in': float(points.distances[~is_ood].mean()),
      'distance_out': float(points.distances[is_ood].mean()),
      'spearman_q_std_distance': ranks_and_distances.spearman(
          q_std, points.distances),
      'lcb_coverage': coverage(run, policy, num_rows, rng),
      'exact_penalty': last_layer.compare(
          run.agent.critic_network, run.dataset, points, num_rows, rng),
  })


def statistics(policy: uncertainty_policy.UncertaintyPolicy,
               observations: np.ndarray,
               actions: np.ndarray) -> dict[str, np.ndarray]:
  """The policy's statistics of Q at pairs, `[B]` each, in chunks."""
  parts = []
  for i in range(0, len(actions), _CHUNK):
    found = policy.statistics(tf.constant(observations[i:i + _CHUNK]),
                              tf.constant(actions[i:i + _CHUNK]))
    parts.append({name: value.numpy() for name, value in found.items()})
  return {name: np.concatenate([part[name] for part in parts])
          for name in parts[0]}


def coverage(run: restoring.RestoredRun,
             policy: uncertainty_policy.UncertaintyPolicy, num_rows: int,
             rng: np.random.Generator) -> dict[str, Any]:
  """How often q_lcb is at most the discounted return that followed a row.

  The returns are the behaviour policy's, without entropy; q_lcb bounds the
  value of the run's own policy, and may rightly exceed them where that is
  better.

  Args:
    run: The run: its γ, its rewards as transformed, its held-out rows.
    policy: Of the run.
    num_rows: Rows to use, at the most.
    rng: Of the choice of rows.

  Returns:
    The share among rows whose return is complete (None if there are none)
    and among all rows, where a cut-off episode ends the return.
  """
  held_out = run.dataset.held_out
  rows = run.dataset if held_out is None else held_out
  gamma = float(run.agent._gamma)
  returns = ranks_and_distances.returns_to_go(
      run.agent._reward_scale_factor * rows.rewards, rows.episode_ends, gamma)
  whole = ranks_and_distances.complete(
      rows.terminals, rows.episode_ends, gamma)
  covered = _covered(policy, rows, returns)

  def share(among: np.ndarray) -> Any:
    size = min(num_rows, len(among))
    return float(np.mean(covered(rng.choice(among, size, replace=False)))
                 ) if size else None

  return {
      'complete_returns': share(np.flatnonzero(whole)),
      'all_rows': share(np.arange(rows.size)),
      'share_of_complete_rows': float(np.mean(whole)),
      'rows': 'trained on' if held_out is None else 'held out',
      'gamma': gamma,
      'lcb_alpha': policy.lcb_alpha,
      'returns': "the behaviour policy's, rewards as the run transforms them, "
                 'no entropy; all_rows: returns end where an episode was cut',
  }


def _covered(policy: uncertainty_policy.UncertaintyPolicy,
             rows: offline_dataset.OfflineDataset, returns: np.ndarray) -> Any:
  observations = support.raw_observations(rows)

  def covered(chosen: np.ndarray) -> np.ndarray:
    found = statistics(policy, observations[chosen], rows.actions[chosen])
    return found['q_lcb'] <= returns[chosen]

  return covered
