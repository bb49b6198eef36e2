"""From a table of logs to the arrays of a dataset, with every check named.

A table has a row for each step: which episode, which step of it, what was seen,
what was done, what it was worth, and whether the task ended there.
"""
import csv
import fnmatch
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from drvf_tf.data import validation

Columns = dict[str, np.ndarray]


class TableError(validation.DatasetError):
  """A table that cannot be converted."""


class Layout(NamedTuple):
  """Which columns of a table are what.

  Attributes:
    episode: The episode's id: numbers or words.
    step: The number of a step in its episode.
    observations: Columns, or patterns such as `obs_*`, in order.
    actions: Columns or patterns, in order.
    reward: Of the step.
    terminal: 1 where the task ended after the step; None: it never does.
    behaviour_log_prob: Log-density of the action, where it was recorded.
  """
  episode: str
  step: str
  observations: Sequence[str]
  actions: Sequence[str]
  reward: str
  terminal: Optional[str] = None
  behaviour_log_prob: Optional[str] = None


def read_csv(path: pathlib.Path) -> dict[str, list[str]]:
  """The columns of a CSV file with a header, as text.

  Args:
    path: Comma-separated, UTF-8.

  Returns:
    The columns by name.

  Raises:
    TableError: There is no such file, or it is no table.
  """
  try:
    with open(path, newline='', encoding='utf-8-sig') as file:
      header, *rows = list(csv.reader(file)) or [[]]
  except (OSError, UnicodeDecodeError, csv.Error) as error:
    raise TableError(
        f'{path} cannot be read as a CSV file ({error}): check the path, and '
        'that it is comma-separated UTF-8 text.') from error
  if not rows:
    raise TableError(f'{path} has no rows below its header: export it again.')
  double = [name for name in header if header.count(name) > 1]
  if double:
    raise TableError(
        f'{path} has two columns named {double[0]!r}: rename one of them.')
  for number, row in enumerate(rows, start=2):
    if len(row) != len(header):
      raise TableError(
          f'line {number:,} of {path} has {len(row)} cells and the header '
          f'{len(header)}: quote cells that hold commas, and export it again.')
  return dict(zip(header, map(list, zip(*rows))))


def to_arrays(table: Mapping[str, Sequence], layout: Layout,
              source: str = 'the table') -> Columns:
  """The arrays of a dataset, episode below episode, steps in order.

  The last row of an episode that does not end in a terminal is a timeout. Its
  next observation is in no row: training leaves that row out.

  Args:
    table: Columns by name, as `read_csv` gives them, or numbers.
    layout: Which of them are what.
    source: Where the table is from, for messages.

  Returns:
    Arrays by D4RL's keys.

  Raises:
    TableError: What is wrong with the table, by column and row.
  """
  observations = _matching(table, layout.observations, source)
  actions = _matching(table, layout.actions, source)
  both = [name for name in actions if name in observations]
  if both:
    raise TableError(
        f'{both[0]!r} of {source} is among the observations and the actions: '
        'a policy cannot see what it is yet to do.')
  episodes = np.asarray(_column(table, layout.episode, source)).astype(str)
  if (episodes == '').any():
    raise TableError(
        f'{layout.episode!r} of {source} is empty in row '
        f'{_first(episodes == "")}: give every row its episode.')
  steps = _numbers(table, layout.step, source)
  order = np.lexsort([steps, _order_of_appearance(episodes)])
  episodes, steps = episodes[order], steps[order]
  last = np.append(episodes[1:] != episodes[:-1], True)
  _check_steps(episodes, steps, last, source)

  def stacked(names: Sequence[str]) -> np.ndarray:
    return np.stack([_numbers(table, name, source)[order] for name in names],
                    axis=1).astype(np.float32)

  terminals = np.zeros(len(order), bool)
  if layout.terminal is not None:
    terminals = _flags(table, layout.terminal, source)[order]
    early = terminals & ~last
    if early.any():
      where = np.flatnonzero(early)[0]
      raise TableError(
          f'episode {episodes[where]} of {source} goes on after the terminal '
          f'step {steps[where]:g}: give what follows an id of its own.')
  arrays = {
      'observations': stacked(observations), 'actions': stacked(actions),
      'rewards': _numbers(table, layout.reward, source)[order].astype(
          np.float32),
      'terminals': terminals, 'timeouts': last & ~terminals}
  if layout.behaviour_log_prob is not None:
    arrays['behaviour_log_probs'] = _numbers(
        table, layout.behaviour_log_prob, source)[order].astype(np.float32)
  return arrays


def _column(table: Mapping[str, Sequence], name: str,
            source: str) -> Sequence:
  if name not in table:
    raise TableError(
        f'{source} has no column {name!r}: it has {", ".join(table)}.')
  return table[name]


def _matching(table: Mapping[str, Sequence], patterns: Sequence[str],
              source: str) -> list[str]:
  found: list[str] = []
  for pattern in patterns:
    names = [name for name in table if fnmatch.fnmatchcase(name, pattern)]
    if not names:
      _column(table, pattern, source)
    found += [name for name in names if name not in found]
  return found


def _numbers(table: Mapping[str, Sequence], name: str,
             source: str) -> np.ndarray:
  column = _column(table, name, source)
  try:
    values = np.asarray(column).astype(np.float64)
  except (TypeError, ValueError):
    values = np.array([_number(cell) for cell in column])
  bad = ~np.isfinite(values)
  if bad.any():
    cell = column[int(np.flatnonzero(bad)[0])]
    raise TableError(
        f'{name!r} of {source} has {cell!r} in row {_first(bad)}, which is no '
        'finite number: fill such cells, or leave their episodes out.')
  return values


def _number(cell: object) -> float:
  try:
    return float(str(cell))
  except ValueError:
    return float('nan')


def _flags(table: Mapping[str, Sequence], name: str,
           source: str) -> np.ndarray:
  words = {'true': 1.0, 'false': 0.0}
  cells = [str(cell).strip().lower() for cell in _column(table, name, source)]
  values = np.array([words.get(cell, _number(cell)) for cell in cells])
  bad = ~np.isin(values, (0.0, 1.0))
  if bad.any():
    cell = cells[int(np.flatnonzero(bad)[0])]
    raise TableError(
        f'{name!r} of {source} has {cell!r} in row {_first(bad)}, and flags '
        'are 0 or 1, true or false: write 1 where the task ended.')
  return values.astype(bool)


def _order_of_appearance(episodes: np.ndarray) -> np.ndarray:
  _, first, number = np.unique(
      episodes, return_index=True, return_inverse=True)
  return np.argsort(np.argsort(first))[number]


def _check_steps(episodes: np.ndarray, steps: np.ndarray, last: np.ndarray,
                 source: str) -> None:
  """Within an episode a step follows each step; none twice, none missing."""
  wrong = np.flatnonzero((np.diff(steps) != 1) & ~last[:-1])
  if wrong.size:
    one, other = steps[wrong[0]], steps[wrong[0] + 1]
    what = ('has step {:g} twice' if one == other
            else 'has no step between {:g} and {:g}')
    raise TableError(
        f'episode {episodes[wrong[0]]} of {source} {what.format(one, other)}: '
        'number the steps of an episode one by one, and give what follows a '
        'gap an id of its own.')


def _first(mask: np.ndarray) -> str:
  return f'{np.flatnonzero(mask)[0] + 1:,}'
