"""What a run's own agent says of its policy, on rows of data alone."""
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from drvf_tf.data import offline_dataset
from drvf_tf.policies import policy_snapshot, support, uncertainty_policy

_CHUNK = 4_096


class OwnCritic:
  """The greedy policy of an agent, and its ensemble's view of it.

  Everything is in the units of the rewards that the agent was trained on.
  """

  def __init__(self, agent: Any, dataset: offline_dataset.OfflineDataset):
    """Follows the agent's variables.

    Args:
      agent: Any agent; values are known of one with an ensemble critic.
      dataset: What it was trained on; gives the normalisation.
    """
    self._gamma: Optional[float] = getattr(agent, 'gamma', None)
    self._act = policy_snapshot.greedy(agent, dataset).act
    self._policy: Optional[uncertainty_policy.UncertaintyPolicy] = None
    if uncertainty_policy.knows_uncertainty(agent):
      self._policy = uncertainty_policy.of_agent(agent, dataset)

  @property
  def policy(self) -> Optional[uncertainty_policy.UncertaintyPolicy]:
    """The policy that knows its uncertainty; None where there is none."""
    return self._policy

  def act(self, observations: np.ndarray) -> np.ndarray:
    """Greedy actions `[B, act]` at raw observations `[B, obs]`."""
    return np.concatenate([
        self._act(observations[i:i + _CHUNK].astype(np.float32))
        for i in range(0, len(observations), _CHUNK)])

  def statistics(self, observations: np.ndarray,
                 actions: np.ndarray) -> dict[str, np.ndarray]:
    """q_mean, q_std, q_lcb, ... `[B]` at raw pairs; needs `policy`."""
    assert self._policy is not None
    parts = [self._policy.statistics(
        tf.constant(observations[i:i + _CHUNK], tf.float32),
        tf.constant(actions[i:i + _CHUNK], tf.float32))
             for i in range(0, len(observations), _CHUNK)]
    return {name: np.concatenate([part[name].numpy() for part in parts])
            for name in parts[0]}

  def on_data(self, rows: offline_dataset.OfflineDataset,
              chosen: np.ndarray) -> dict[str, float]:
    """Numbers to follow a training by, without a simulator.

    Args:
      rows: Transitions, best such that were not trained on; rewards and
        observations as the agent's own data have them.
      chosen: Which of the rows the errors are measured on.

    Returns:
      `action_error`: root mean square of π(s) − a in half ranges of the
      actions; and of an agent with an ensemble critic `value` and `value_lcb`
      (means over the first states of episodes) and `td_error` (root mean
      square of Q(s, a) − r − γ Q(s', π(s')), means over the ensemble).
    """
    raw = support.raw_observations(rows)
    half = (rows.action_high - rows.action_low) / 2
    error = (self.act(raw[chosen]) - rows.actions[chosen]) / half
    found = {'action_error': _rms(error)}
    if self._policy is None:
      return found
    first = raw[rows.initial_rows()]
    at_first = self.statistics(first, self.act(first))
    following = _next_observations(rows)[chosen]
    next_value = self.statistics(following, self.act(following))['q_mean']
    target = rows.rewards[chosen] + self._gamma * next_value * (
        ~rows.terminals[chosen])
    now = self.statistics(raw[chosen], rows.actions[chosen])['q_mean']
    return {**found, 'value': float(at_first['q_mean'].mean()),
            'value_lcb': float(at_first['q_lcb'].mean()),
            'td_error': _rms(now - target)}


def _next_observations(rows: offline_dataset.OfflineDataset) -> np.ndarray:
  """Raw s'."""
  return support.raw_observations(
      rows.replace(observations=rows.next_observations))


def _rms(values: np.ndarray) -> float:
  return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))
