"""Evaluation without a simulator: what held-out rows say of the policy."""
from typing import Any, Optional

import gin
import numpy as np

from drvf_tf.data import offline_dataset
from drvf_tf.ope import own_critic
from drvf_tf.policies import policy_snapshot
from drvf_tf.train import evaluation, tasks


@gin.configurable
class DataEvaluation:
  """Takes an `Evaluation`'s place where there is no task to play.

  It measures at once, on the rows that `hold_out_episodes` set aside, else on
  the training rows. It gives no score: which checkpoint is the best, data do
  not say while training; `launch/select.py` ranks them afterwards.
  """

  def __init__(self,
               task: tasks.Task,
               policy: policy_snapshot.Policy,
               seed: int,
               interval: int = 5_000,
               max_rows: int = 4_000):
    """Creates it; `begin` says what is measured.

    Args:
      task: Unused: there is none.
      policy: Unused: `begin` has the agent itself.
      seed: Of the choice of rows.
      interval: Train steps between evaluations.
      max_rows: How many rows errors are measured on at the most.
    """
    del task, policy
    if interval < 1 or max_rows < 1:
      raise ValueError('interval and max_rows of DataEvaluation must be at '
                       f'least 1, not {interval} and {max_rows}.')
    self._interval, self._max_rows, self._seed = interval, max_rows, seed
    self._row: Optional[evaluation.Row] = None
    self._critic: Optional[own_critic.OwnCritic] = None

  def begin(self, agent: Any,
            dataset: offline_dataset.OfflineDataset) -> None:
    """Takes the agent to look at, and the data to look at it on."""
    self._critic = own_critic.OwnCritic(agent, dataset)
    self._rows = dataset if dataset.held_out is None else dataset.held_out
    count = min(self._max_rows, self._rows.size)
    self._chosen = np.sort(np.random.default_rng(self._seed).choice(
        self._rows.size, count, replace=False))

  @property
  def interval(self) -> int:
    """Train steps between evaluations."""
    return self._interval

  @property
  def pending_step(self) -> Optional[int]:
    """The step that `collect` has the row of."""
    return None if self._row is None else self._row['step']

  def start(self, step: int) -> None:
    """Measures the policy as it is now."""
    self._row = self._measure(step, final=False)

  def suspend(self) -> Optional[dict[str, Any]]:
    """The row that was not collected yet."""
    return self._row

  def resume(self, state: dict[str, Any]) -> None:
    """Takes that row back."""
    self._row = state

  def ready(self) -> bool:
    """Whether `collect` has something: it never waits."""
    return self._row is not None

  def collect(self) -> evaluation.Row:
    """The row of the last `start`."""
    assert self._row is not None
    row, self._row = self._row, None
    return row

  def final(self, step: int) -> evaluation.Row:
    """The row after the last step."""
    return self._measure(step, final=True)

  def close(self) -> None:
    """There is nothing to end."""

  def _measure(self, step: int, final: bool) -> evaluation.Row:
    assert self._critic is not None
    return {'step': step, 'final': final,
            **self._critic.on_data(self._rows, self._chosen)}
