"""Families: a method and what was run under names that begin with its own.

Which runs belong together is read from their names: "DRVF, n=2" and "DRVF
without repulsion" are variants of "DRVF".
"""
import dataclasses
from collections.abc import Sequence

from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.report import comparison, score_figures
from drvf_tf.runs import settings


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
  rows: tuple[comparison.Row, ...]


def families(rows: Sequence[comparison.Row]) -> list[Family]:
  """Methods that have variants on the same task."""
  found = []
  for task in dict.fromkeys(row.task for row in rows):
    here = [row for row in rows if row.task == task]
    for method in dict.fromkeys(_base(row, here) for row in here):
      members = [row for row in here if _base(row, here) == method]
      # The method itself first, or what it is called here ("DRVF + BC").
      head = min(members, key=lambda row: (
          _is_variant(row, method), len(row.method)))
      members.sort(key=lambda row: (row is not head, len(row.method)))
      if len(members) > 1:
        found.append(Family(task, method, tuple(members)))
  return found


def without(rows: Sequence[comparison.Row]) -> list[comparison.Row]:
  """Rows but for variants of a method of the same task ("DRVF, n=2").

  Where nothing but variants was run, the first of them stands for the method.
  """
  aside = [row for family in families(rows) for row in family.rows[1:]
           if _is_variant(row, family.method)]
  return [row for row in rows if row not in aside]


def across_tasks(rows: Sequence[comparison.Row]) -> list[comparison.Row]:
  """Rows but for variants, under names that tasks share.

  A task's file may constrain the actor, and its runs are named after that
  ("DRVF + BC"): the same method on another task is "DRVF". The shorter name
  holds where no other row of the task has it.
  """
  rows = without(rows)
  short = [settings.without_constraint(row.method, row.runs[0].bindings)
           for row in rows]
  cells = [(row.task, name) for row, name in zip(rows, short)]
  taken = [(row.task, row.method) for row in rows]
  return [row if cells.count(cell) > 1 or (
              cell in taken and cell[1] != row.method)
          else dataclasses.replace(row, method=cell[1])
          for row, cell in zip(rows, cells)]


def draw(family: Family) -> figure_lib.Figure:
  """Bars of all variants."""
  return score_figures.bars([row.method for row in family.rows],
                      [row.final for row in family.rows], figures.SCORE,
                      f'{family.task}: {family.method} and its variants')


def _is_variant(row: comparison.Row, method: str) -> bool:
  return row.method.startswith(f'{method},')


def _base(row: comparison.Row, rows: Sequence[comparison.Row]) -> str:
  """The shortest name of another row that this one's begins with."""
  name = row.method
  known = {other.method for other in rows} | {
      other.runs[0].method.split(',')[0] for other in rows}
  return min((other for other in known
              if name == other or name.startswith((f'{other},', f'{other} '))),
             key=len)
