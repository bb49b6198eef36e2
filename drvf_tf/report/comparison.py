"""The table of a comparison: task × method, mean ± std over seeds.

Every number is computed from the raw returns of evaluations.jsonl.
"""
import collections
import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from drvf_tf.report import commands
from drvf_tf.runs import finished as runs_lib
from drvf_tf.runs import settings

LAST_EVALUATIONS = 10
PAPER_STEPS = 3_000_000

Values = Union[Sequence[float], np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
  """The seeds of one method on one task, with one configuration and data.

  Attributes:
    task: The task's name.
    method: The method's name; where several configurations share it, all but
      the first say what sets them apart.
    runs: One for each seed.
  """
  task: str
  method: str
  runs: tuple[runs_lib.Run, ...]

  @property
  def last(self) -> np.ndarray:
    """Each seed's mean score of the last 10 evaluations (of all, if fewer)."""
    return np.array([
        np.mean([evaluation.score for evaluation in
                 run.evaluations[-LAST_EVALUATIONS:]] or [np.nan])
        for run in self.runs])

  @property
  def final(self) -> np.ndarray:
    """Each seed's mean score of the final episodes."""
    return np.array([run.final.score for run in self.runs])

  @property
  def steps(self) -> int:
    """Train steps of each run."""
    return self.runs[0].num_steps

  @property
  def seeds(self) -> tuple[int, ...]:
    """Of the runs."""
    return tuple(run.seed for run in self.runs)

  @property
  def num_seeds(self) -> int:
    """How many runs there are."""
    return len(self.runs)

  @property
  def origin(self) -> str:
    """The kind of data, in a few words."""
    return self.runs[0].origin

  @property
  def episodes(self) -> int:
    """Final episodes of each seed; the fewest, where they differ."""
    return min(len(run.final.returns) for run in self.runs)

  @property
  def budget(self) -> str:
    """What the row was given, against what the paper's runs were."""
    return ', '.join(self.budget_parts)

  @property
  def budget_parts(self) -> tuple[str, ...]:
    """The budget, part by part."""
    run = self.runs[0]
    parts = [f'{self.steps:,} steps ({self.steps / PAPER_STEPS:.2g} of the '
             "paper's 3M)"]
    batch = settings.number(run.bindings, 'train_eval.batch_size')
    parts += [f'batch {batch}'] if batch is not None else []
    parts.append(f'{run.dataset_size:,} rows')
    parts += [f'{symbol} {settings.number(run.bindings, name)}'
              for name, symbol in (
                  ('EnsembleCriticNetwork.num_members', 'M'),
                  ('DRVFAgent.num_samples', 'n'),
                  ('DRVFAgent.num_ood_actions', 'K'))
              if settings.number(run.bindings, name) is not None]
    units = run.bindings.get('EnsembleCriticNetwork.hidden_units')
    parts += [f'hidden {units}'] if units else []
    return tuple(parts)

  @property
  def minutes(self) -> float:
    """Of the longest run; of one that resumed, the sum of its parts."""
    return max((run.cost.minutes for run in self.runs
                if not math.isnan(run.cost.minutes)), default=math.nan)

  @property
  def cpu_minutes(self) -> float:
    """Of the train steps, by CPU time; the mean of the runs."""
    return self.steps * float(np.mean(
        [run.cost.cpu_ms_per_step for run in self.runs])) / 60_000

  @property
  def command(self) -> str:
    """Trains the first seed again; `--seed` gives the others."""
    return commands.reproduce(self.runs[0])


def rows(runs: Sequence[runs_lib.Run]) -> list[Row]:
  """Groups runs into rows.

  Runs are seeds of one row if they share task, method, data and every setting
  that changes what is learned. Of several configurations under one name, one
  that is as its gin files say keeps it, else the one with the most seeds.

  Args:
    runs: As `gathering.gather` gives them.

  Returns:
    Rows in the order of task and method.
  """
  groups: dict[Any, list[runs_lib.Run]] = collections.defaultdict(list)
  for run in runs:
    groups[run.identity].append(run)
  named: dict[tuple[str, str], list[list[runs_lib.Run]]] = (
      collections.defaultdict(list))
  for group in groups.values():
    named[group[0].task, group[0].method].append(group)
  result: list[Row] = []
  for (task, method), variants in sorted(named.items()):
    variants.sort(key=lambda group: (not _as_in_files(group), -len(group)))
    labels = [_label(method, group[0], variants[0][0]) for group in variants]
    for label, group in zip(labels, variants):
      data = f', data {group[0].dataset_hash[:6]}'
      result.append(Row(task, label + data * (labels.count(label) > 1),
                        tuple(group)))
  return result


def circumstances(chosen: Sequence[Row]) -> str:
  """Data and budget of rows, task by task, for captions."""
  parts = []
  for task in dict.fromkeys(row.task for row in chosen):
    here = [row for row in chosen if row.task == task]
    origins = '; '.join(dict.fromkeys(row.origin for row in here))
    text = (f'{task}: data {origins}; {_span(here, "steps")} steps, '
            f'{_span(here, "num_seeds")} seeds, '
            f'{_span(here, "episodes")} final episodes a seed')
    parts.append(re.sub(r', 1 (seed|final episode)s', r', 1 \1', text))
  return '. '.join(parts) + '.'


def common_budget(chosen: Sequence[Row]) -> str:
  """What rows of one figure were all given, for its caption."""
  shared = [part for part in chosen[0].budget_parts
            if all(part in row.budget_parts for row in chosen)]
  differ = any(len(row.budget_parts) > len(shared) for row in chosen)
  return (f'Budget{" of all" * differ}: ' + ', '.join(shared)
          + '; the rest is in the table of results' * differ + '.')


def _span(chosen: Sequence[Row], name: str) -> str:
  values = sorted({getattr(row, name) for row in chosen})
  return ' to '.join(f'{value:,}' for value in (values[:1] + values[1:][-1:]))


def mean_and_std(values: Values) -> tuple[float, float]:
  """Mean, and sample standard deviation (n − 1); NaN for one value."""
  array = np.asarray(values, np.float64)
  return (float(np.mean(array)),
          float(np.std(array, ddof=1)) if array.size > 1 else math.nan)


def plus_minus(values: Values) -> str:
  """`mean ± std` with one decimal; without std for one value."""
  mean, std = mean_and_std(values)
  if math.isnan(mean):
    return '–'
  return f'{mean:.1f}' if math.isnan(std) else f'{mean:.1f} ± {std:.1f}'


def _as_in_files(group: Sequence[runs_lib.Run]) -> bool:
  """Whether the command lines bound nothing that changes what is learned."""
  return not any(settings.that_matter(commands.bindings(run)) for run in group)


def _label(method: str, run: runs_lib.Run, reference: runs_lib.Run) -> str:
  what = settings.differences(settings.that_matter(run.bindings),
                              settings.that_matter(reference.bindings))
  return ', '.join([method, *what])
