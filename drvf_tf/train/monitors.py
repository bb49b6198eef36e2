"""Numbers that tell a healthy run from a sick one, before any score does.

They are taken on the batch of the step they are logged at and depend on
nothing but the agent, the seed and that step.
"""
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from drvf_tf.data import offline_dataset, returns


class Yardstick(NamedTuple):
  """What a run's metrics are measured against, rewards as it transforms them.

  Attributes:
    mean_return: Mean discounted return-to-go.
    lowest: What no policy's value can be below.
    highest: What no policy's value can be above, entropy aside.
    reward: Mean size of the rewards that are not 0.
    members: M; 1 where the critic is no ensemble.
    draws: n.
  """
  mean_return: float
  lowest: float
  highest: float
  reward: float
  members: int = 1
  draws: int = 1


def yardstick(dataset: offline_dataset.OfflineDataset,
              agent: Any) -> Optional[Yardstick]:
  """Reads it off the data and the agent; None where there are no values."""
  if not hasattr(agent, 'gamma'):
    return None
  gamma = agent.gamma
  rewards = np.asarray(dataset.rewards, np.float64)
  low, high = float(rewards.min()), float(rewards.max())
  if dataset.terminals.any():  # nothing follows them: a sum may end early
    low, high = min(low, low * (1 - gamma)), max(high, high * (1 - gamma))
  sizes = np.abs(rewards[rewards != 0])
  critic = getattr(agent, 'critic_network', None)
  return Yardstick(
      mean_return=returns.mean_return(dataset, gamma),
      lowest=low / (1 - gamma), highest=high / (1 - gamma),
      reward=float(sizes.mean()) if sizes.size else 0.0,
      members=getattr(critic, 'num_members', 1),
      draws=getattr(agent, 'num_samples', 1))


class Monitors:
  """Adds the monitors to a row of metrics."""

  def __init__(self, agent: Any, sampler: Callable[[tf.Tensor], Any],
               dataset: offline_dataset.OfflineDataset):
    """Creates it.

    Args:
      agent: Whose γ is `gamma`, if it has values at all; one that has
        `monitor` looks at more than its losses do.
      sampler: A step to its global batch.
      dataset: What it is trained on.
    """
    self.yardstick = yardstick(dataset, agent)
    self._look = None
    if hasattr(agent, 'monitor'):
      self._look = tf.function(
          lambda step: agent.monitor(sampler(step)), autograph=False)

  def __call__(self, step: int, metrics: dict[str, float]
               ) -> dict[str, float]:
    """The row of a step with its monitors.

    Args:
      step: The train step.
      metrics: The row without them.

    Returns:
      The row with, where the agent knows them, `overestimation` (Q on data
      less the data's mean return-to-go) and what `agent.monitor` gives.
    """
    row = dict(metrics)
    if self.yardstick is not None and 'q_data' in row:
      row['overestimation'] = row['q_data'] - self.yardstick.mean_return
    if self._look is not None:
      found = self._look(tf.constant(step, tf.int64))
      row.update({name: float(value) for name, value in found.items()})
    return row
