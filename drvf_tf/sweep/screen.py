"""Shows a sweep: a live table on a terminal, lines everywhere else."""
import collections
import os
import pathlib
import shutil
import time
from collections.abc import Sequence
from typing import Optional, TextIO

from drvf_tf.runs import run_reader
from drvf_tf.sweep import cells, states, table

_LIVE_INTERVAL = 1.0  # seconds
_LINES_INTERVAL = 60.0
_WINDOW = 20  # rows of metrics that a speed is measured over


class Speedometer:
  """Steps per second of a run, from when its rows of metrics appeared."""

  def __init__(self) -> None:
    self._seen: collections.deque[tuple[float, int]] = collections.deque(
        maxlen=_WINDOW)

  def update(self, moment: float, step: int) -> None:
    """Takes note of a step and when it was written."""
    if self._seen and step < self._seen[-1][1]:
      self._seen.clear()  # a run that resumes drops rows after its checkpoint
    if not self._seen or step > self._seen[-1][1]:
      self._seen.append((moment, step))

  @property
  def value(self) -> Optional[float]:
    """Steps per second; None until two rows were seen."""
    (then, first), (now, last) = (
        (self._seen[0], self._seen[-1]) if self._seen else ((0, 0), (0, 0)))
    return (last - first) / (now - then) if now > then else None


class Screen:
  """Reads run folders and shows where the runs are."""

  def __init__(self, todo: Sequence[cells.Cell], stream: TextIO,
               terminal: bool):
    """Creates it.

    Args:
      todo: The cells that this sweep runs.
      stream: Where to write.
      terminal: Whether it is one, where the table stays in place.
    """
    self._todo, self._stream, self._terminal = todo, stream, terminal
    self._speeds: dict[pathlib.Path, Speedometer] = {
        cell.run_dir: Speedometer() for cell in todo}
    self._finished: dict[cells.Cell, states.State] = {}
    self._drawn = 0  # lines of the live table now on the terminal
    self._next = 0.0 if terminal else time.monotonic() + _LINES_INTERVAL

  def say(self, text: str) -> None:
    """Prints a line, above the live table."""
    self._erase()
    print(text, file=self._stream, flush=True)
    if self._terminal:
      self._next = 0.0

  def refresh(self) -> None:
    """Shows the table, if it is time."""
    now = time.monotonic()
    if now < self._next:
      return
    self._next = now + (
        _LIVE_INTERVAL if self._terminal else _LINES_INTERVAL)
    lines = self.lines()
    self._erase()
    if self._terminal:
      self._drawn = len(lines)
    print('\n'.join(lines), file=self._stream, flush=True)

  def close(self) -> None:
    """Takes the live table away."""
    self._erase()

  def lines(self) -> list[str]:
    """How many runs are where, and a table of those that run."""
    found = [self._state(cell) for cell in self._todo]
    rows = [table.row(cell, state, self._speed(cell)) for cell, state
            in zip(self._todo, found) if state.phase is states.Phase.RUNNING]
    columns, height = shutil.get_terminal_size()
    room = max(height - 4, 1) if self._terminal else len(rows)
    lines = table.grid(rows[:room]) if rows else []
    if len(rows) > room:
      lines.append(f'... and {len(rows) - room} more')
    lines.append(table.counts(found))
    return [line[:columns - 1] for line in lines] if self._terminal else lines

  def _state(self, cell: cells.Cell) -> states.State:
    known = self._finished.get(cell)
    if known is not None:
      return known
    record = states.read_record(cell.run_dir)
    running = 'started' in record and not {'ended', 'failed'} & set(record)
    state = states.read(cell.run_dir, running)
    if state.phase is states.Phase.FINISHED:
      self._finished[cell] = state
    return state

  def _speed(self, cell: cells.Cell) -> Optional[float]:
    speed, run = self._speeds[cell.run_dir], run_reader.RunReader(cell.run_dir)
    try:
      moment = os.stat(run.metrics_file).st_mtime
    except OSError:
      return speed.value
    speed.update(moment, run.logged_step())
    return speed.value

  def _erase(self) -> None:
    if self._drawn:
      self._stream.write(f'\x1b[{self._drawn}A\x1b[J')
      self._drawn = 0
