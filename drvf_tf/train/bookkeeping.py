"""What the one writing process does between calls of the graph."""
import time
from collections.abc import Mapping
from typing import Any

from drvf_tf.runs import checkpoints as checkpoints_lib
from drvf_tf.runs import records as records_lib
from drvf_tf.train import evaluation as evaluation_lib
from drvf_tf.train import guard as guard_lib
from drvf_tf.train import monitors as monitors_lib
from drvf_tf.train import progress as progress_lib
from drvf_tf.train import schedule as schedule_lib


class Bookkeeper:
  """Writes rows, evaluates and saves, in an order that survives a kill.

  A checkpoint of step s is written when every row up to s is on disk, but for
  the evaluation of s itself: a run that resumes at s starts it again, with the
  same policy and the same seeds.
  """

  def __init__(self,
               records: records_lib.Records,
               evaluation: evaluation_lib.Evaluator,
               checkpoints: checkpoints_lib.Checkpoints,
               progress: progress_lib.Progress,
               monitors: monitors_lib.Monitors,
               guard: guard_lib.Guard,
               schedule: schedule_lib.Schedule):
    """Creates it.

    Args:
      records: Where rows go.
      evaluation: Of the greedy policy.
      checkpoints: Where the agent is saved.
      progress: What a person sees.
      monitors: What is added to each row of metrics.
      guard: What reviews it.
      schedule: When rows and checkpoints are due.
    """
    self._records, self._evaluation = records, evaluation
    self._checkpoints, self._progress = checkpoints, progress
    self._monitors, self._guard = monitors, guard
    self._schedule = schedule
    self._window = records_lib.Window()
    self._last_log = time.monotonic()

  def resume(self, step: int, state: Mapping[str, Any]) -> None:
    """Takes up what was under way at the checkpoint of a step."""
    self._window = records_lib.Window(state['window'])
    rows = [row for row in self._records.evaluations() if not row['final']]
    if rows:
      self._progress.evaluated(rows[-1])
    if state['evaluation'] is not None:
      self._evaluation.resume(state['evaluation'])
    if step % self._evaluation.interval:
      return
    if rows and rows[-1]['step'] == step:
      self._offer_best(rows[-1])
    else:
      self._evaluation.start(step)

  def after_call(self, step: int, metrics: Mapping[str, float]) -> None:
    """Does what is due after a call of the graph that ended at `step`."""
    self._window.add(metrics)
    self._progress.advance(self._schedule.steps_per_call, metrics)
    if step % self._schedule.log_interval == 0:
      self._log(step)
    if self._evaluation.ready():
      self._collect()
    if step % self._evaluation.interval == 0:
      self._collect()
      self._evaluation.start(step)
    if step % self._schedule.checkpoint_interval == 0:
      self.save(step)

  def save(self, step: int) -> None:
    """Writes a checkpoint."""
    if self._evaluation.pending_step != step:
      self._collect()
    self._records.sync()
    self._checkpoints.save(
        step, {'window': self._window.state(), 'evaluation': None})

  def interrupt(self, step: int) -> None:
    """Writes a checkpoint at once: an evaluation under way goes into it."""
    if self._evaluation.ready():
      self._collect()
    under_way = None
    if self._evaluation.pending_step != step:
      under_way = self._evaluation.suspend()
    self._records.sync()
    # The checkpoint under evaluation may yet turn out to be the best.
    self._checkpoints.save(
        step, {'window': self._window.state(), 'evaluation': under_way},
        prune=False)

  def finish(self, step: int) -> dict[str, Any]:
    """Saves, evaluates for the last time, and sums the run up."""
    self.save(step)
    self._collect()
    rows = self._records.evaluations()
    if not any(row['final'] for row in rows):
      self._progress.say('Final evaluation ...')
      row = self._evaluation.final(step)
      self._records.add_evaluation(row)
      self._progress.evaluated(row)
    self._progress.close()
    return progress_lib.summary(
        self._records.evaluations(), self._records.metrics())

  def _log(self, step: int) -> None:
    row = self._monitors(step, self._window.means())
    self._records.add_metrics(step, row)
    self._window.clear()
    self._progress.show(row)
    self._guard.review(
        row, self._monitors.yardstick, step, self._progress.say)
    now = time.monotonic()
    self._records.speed(
        step, self._schedule.log_interval / (now - self._last_log))
    self._last_log = now

  def _collect(self) -> None:
    if self._evaluation.pending_step is None:
      return
    row = self._evaluation.collect()
    self._records.add_evaluation(row)
    self._progress.evaluated(row)
    self._offer_best(row)

  def _offer_best(self, row: Mapping[str, Any]) -> None:
    if 'score' in row:  # data alone do not say which checkpoint is the best
      self._checkpoints.offer_best(row['step'], row['score'])
