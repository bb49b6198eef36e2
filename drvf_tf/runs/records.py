"""metrics.csv, evaluations.jsonl and TensorBoard, exact under resuming.

Rows hold nothing that depends on time, so that a run that was stopped and
resumed writes the same bytes as one that was not.
"""
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any, Optional

import tensorflow as tf

from drvf_tf.runs import run_reader


class Window:
  """Means of metrics since the last row; part of a checkpoint."""

  def __init__(self, state: Optional[Mapping[str, Any]] = None):
    self._sums: dict[str, float] = dict(state['sums']) if state else {}
    self._count: int = state['count'] if state else 0

  def add(self, metrics: Mapping[str, float]) -> None:
    """Adds the means of one call of the graph."""
    for name, value in metrics.items():
      self._sums[name] = self._sums.get(name, 0.0) + value
    self._count += 1

  def means(self) -> dict[str, float]:
    """The means since the last `clear`."""
    return {name: total / self._count for name, total in self._sums.items()}

  def clear(self) -> None:
    """Starts a new window."""
    self._sums, self._count = {}, 0

  def state(self) -> dict[str, Any]:
    """What `Window(state)` resumes from; JSON keeps its floats exactly."""
    return {'sums': self._sums, 'count': self._count}


class Records:
  """The rows of a run on disk."""

  def __init__(self, folder: pathlib.Path, step: int,
               num_steps: Optional[int] = None):
    """Opens the records as they were at a step; later rows are dropped.

    Args:
      folder: The run folder.
      step: Where the run resumes; 0 for a new run.
      num_steps: The run's last step; a final evaluation before it is dropped.
    """
    self._run = run_reader.RunReader(folder)
    self._metrics = self._run.metrics_file
    self._evaluations = self._run.evaluations_file
    self._rewind(step, num_steps)
    self._board = tf.summary.create_file_writer(str(self._run.board_folder))

  def add_metrics(self, step: int, metrics: Mapping[str, float]) -> None:
    """Appends a row of metrics.csv."""
    names = sorted(metrics)
    lines = [] if self._metrics.exists() else [','.join(['step', *names])]
    lines.append(','.join([str(step), *(repr(metrics[n]) for n in names)]))
    _append(self._metrics, lines)
    self._summarise(step, {f'train/{n}': metrics[n] for n in names})

  def add_evaluation(self, row: Mapping[str, Any]) -> None:
    """Appends a row of evaluations.jsonl."""
    _append(self._evaluations, [json.dumps(row)])
    kind = 'final' if row['final'] else 'evaluation'
    named = {name: row[name] for name in row if name not in ('step', 'final')
             and isinstance(row[name], float)}
    if 'mean_return' in named:
      named['return'] = named.pop('mean_return')
    self._summarise(row['step'], {
        f'{kind}/{name}': value for name, value in named.items()})

  def speed(self, step: int, steps_per_second: float) -> None:
    """Notes the speed, in TensorBoard only: it depends on the machine."""
    self._summarise(step, {'train/steps_per_second': steps_per_second})

  def evaluations(self) -> list[dict[str, Any]]:
    """All rows of evaluations.jsonl."""
    return self._run.evaluations()

  def metrics(self) -> dict[str, list[float]]:
    """The columns of metrics.csv."""
    return self._run.metrics()

  def sync(self) -> None:
    """Makes sure that every row is on the disk before a checkpoint is."""
    for path in (self._metrics, self._evaluations):
      if path.exists():
        with open(path, 'rb') as file:
          os.fsync(file.fileno())
    self._board.flush()

  def close(self) -> None:
    """Closes TensorBoard's file."""
    self._board.close()

  def _summarise(self, step: int, values: Mapping[str, float]) -> None:
    with self._board.as_default(step):
      for name, value in values.items():
        tf.summary.scalar(name, value)

  def _rewind(self, step: int, num_steps: Optional[int]) -> None:
    header, *rows = run_reader.whole_lines(self._metrics) or ['']
    kept = [row for row in rows if int(row.split(',')[0]) <= step]
    _rewrite(self._metrics, [header, *kept] if kept else [])

    def stays(row: dict[str, Any]) -> bool:
      early = num_steps is not None and row['step'] < num_steps
      return row['step'] <= step and not (row['final'] and early)

    _rewrite(self._evaluations,
             [line for line in run_reader.whole_lines(self._evaluations)
              if stays(json.loads(line))])


def _append(path: pathlib.Path, lines: list[str]) -> None:
  with open(path, 'a', encoding='utf-8') as file:
    file.write(''.join(f'{line}\n' for line in lines))


def _rewrite(path: pathlib.Path, lines: list[str]) -> None:
  if not lines:
    path.unlink(missing_ok=True)
    return
  temporary = path.with_name(f'.{path.name}.new')
  temporary.write_text(''.join(f'{line}\n' for line in lines),
                       encoding='utf-8')
  os.replace(temporary, path)
