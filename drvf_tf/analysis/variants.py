"""Ablations: rows of one method that differ in a part or in a number.

Which runs belong together is read from their names: "DRVF, n=2" and "DRVF
without repulsion" are variants of "DRVF".
"""
import dataclasses
import re
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf.analysis import comparison, figures, settings

_MEMBERS = 'EnsembleCriticNetwork.num_members'
_NUMBERED = re.compile(r'(?P<symbol>\S+)\s*=\s*(?P<value>-?\d+(\.\d+)?)')


@dataclasses.dataclass(frozen=True)
class Family:
  """A method and its variants on one task.

  Attributes:
    task: The task's name.
    method: The name that all of them begin with.
    rows: The method itself, where it was run, then its variants.
  """
  task: str
  method: str
  rows: Tuple[comparison.Row, ...]


@dataclasses.dataclass(frozen=True)
class Sweep:
  """Rows of a family that differ in one number.

  Attributes:
    family: They belong to.
    symbol: Of the number, such as n.
    points: (value, row) in the order of values.
  """
  family: Family
  symbol: str
  points: Tuple[Tuple[float, comparison.Row], ...]


def families(rows: Sequence[comparison.Row]) -> List[Family]:
  """Methods that have variants on the same task."""
  found = []
  for task in dict.fromkeys(row.task for row in rows):
    here = [row for row in rows if row.task == task]
    for method in dict.fromkeys(_base(row, here) for row in here):
      members = [row for row in here if _base(row, here) == method]
      members.sort(key=lambda row: len(row.method))  # the method itself first
      if len(members) > 1:
        found.append(Family(task, method, tuple(members)))
  return found


def sweeps(family: Family) -> List[Sweep]:
  """The numbers that a family varies, each with two values or more."""
  points: Dict[str, Dict[float, comparison.Row]] = {}
  for row in family.rows:
    match = _NUMBERED.fullmatch(row.method[len(family.method):].lstrip(', '))
    if match:
      points.setdefault(match['symbol'], {})[float(match['value'])] = row
  for symbol, known in points.items():
    name = settings.binding(symbol)
    own = family.rows[0]
    if own.method == family.method and name in own.runs[0].bindings:
      known.setdefault(float(own.runs[0].bindings[name]), own)
  return [Sweep(family, symbol, tuple(sorted(
      known.items(), key=lambda point: point[0])))
          for symbol, known in points.items() if len(known) > 1]


def draw(family: Family) -> figure_lib.Figure:
  """Bars of all variants."""
  return figures.bars([row.method for row in family.rows],
                      [row.final for row in family.rows], figures.SCORE,
                      f'{family.task}: {family.method} and its variants')


def draw_sweep(sweep: Sweep) -> figure_lib.Figure:
  """Score over the number that is varied, with each seed as a dot."""
  picture = figures.new(8.0, 4.5)
  axis = picture.subplots()
  values = [value for value, _ in sweep.points]
  table = [comparison.mean_and_std(row.final) for _, row in sweep.points]
  axis.errorbar(values, [mean for mean, _ in table],
                np.nan_to_num([std for _, std in table]),
                capsize=4, **figures.style(0))
  for value, row in sweep.points:
    axis.plot([value] * len(row.final), row.final, 'o', color='black',
              markersize=4, zorder=3)
  axis.set_xticks(values)
  axis.set(xlabel=sweep.symbol, ylabel=figures.SCORE,
           title=f'{sweep.family.task}: {sweep.family.method} over '
                 f'{sweep.symbol}')
  axis.grid(alpha=0.3)
  return picture


def smallest_members(family: Family, score: float) -> Optional[int]:
  """Fig. 4: the smallest M whose mean final score reaches a score."""
  enough = [members for members, row in by_members(family)
            if comparison.mean_and_std(row.final)[0] >= score]
  return min(enough, default=None)


def by_members(family: Family) -> List[Tuple[int, comparison.Row]]:
  """(M, row) of the variants that differ from the method in M alone."""
  found = []
  for sweep in sweeps(family):
    if settings.binding(sweep.symbol) == _MEMBERS:
      found += [(int(value), row) for value, row in sweep.points]
  return found


def _base(row: comparison.Row, rows: Sequence[comparison.Row]) -> str:
  """The shortest name of another row that this one's begins with."""
  name = row.method
  known = {other.method for other in rows} | {
      other.runs[0].method.split(',')[0] for other in rows}
  return min((other for other in known
              if name == other or name.startswith((f'{other},', f'{other} '))),
             key=len)
