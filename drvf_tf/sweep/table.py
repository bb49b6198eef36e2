"""Cells and their states as text."""
from collections.abc import Sequence
from typing import Optional

from drvf_tf import project_files
from drvf_tf.sweep import cells, states

_HEADER = ('task', 'method', 'seed', 'state', 'step', 'of', 'steps/s', 'score',
           'left')
_TEXT = 4  # so many columns are text, the others numbers


Row = tuple[str, ...]  # of the table


def row(cell: cells.Cell, state: states.State,
        speed: Optional[float] = None) -> Row:
  """The line of a cell.

  Args:
    cell: The cell.
    state: Of its run.
    speed: Steps per second, where known.
  """
  left = '-'
  if speed and state.num_steps is not None:
    left = duration((state.num_steps - state.step) / speed)
  started = state.phase is not states.Phase.NOT_STARTED
  return (
      cell.task, cell.method, str(cell.seed), state.phase.value,
      f'{state.step:,}' if started else '-',
      '-' if state.num_steps is None else f'{state.num_steps:,}',
      '-' if speed is None else f'{speed:.1f}',
      '-' if state.score is None else f'{state.score:.1f}', left)


def grid(rows: Sequence[Row]) -> list[str]:
  """A header and the rows, in columns."""
  whole = [_HEADER, *rows]
  widths = [max(len(line[i]) for line in whole) for i in range(len(_HEADER))]
  return ['  '.join(
      text.ljust(width) if i < _TEXT else text.rjust(width)
      for i, (text, width) in enumerate(zip(line, widths))).rstrip()
          for line in whole]


def with_commands(todo: Sequence[cells.Cell],
                  found: Sequence[states.State]) -> list[str]:
  """The table, and below each line its command and why it failed."""
  head, *lines = grid([row(cell, state) for cell, state in zip(todo, found)])
  result = [head]
  for cell, state, line in zip(todo, found, lines):
    result.append(line)
    result += [f'    {note}' for note in state.note.splitlines()]
    result.append(f'    {project_files.command_line(cell.command)}')
  return result


def counts(found: Sequence[states.State]) -> str:
  """How many cells are in which phase."""
  phases = [state.phase for state in found]
  parts = [f'{phases.count(phase)} {phase.value}' for phase in states.Phase
           if phase in phases]
  return f'{len(phases)} runs: {", ".join(parts)}'


def duration(seconds: float) -> str:
  """A duration, as exact as a guess deserves."""
  minutes = int(seconds) // 60
  if minutes < 1:
    return f'{int(seconds)} s'
  if minutes < 60:
    return f'{minutes} min'
  if minutes < 48 * 60:
    return f'{minutes // 60} h {minutes % 60:02d} min'
  return f'{minutes // (24 * 60)} d {minutes // 60 % 24} h'
