"""Aggregates over tasks with intervals, by the package rliable.

Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
Precipice": stratified bootstrap over runs within tasks.
"""
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from drvf_tf import errors
from drvf_tf.report import comparison

METRICS = ('median', 'IQM', 'mean', 'optimality gap')
_REPETITIONS = 2_000
_MIN_RUNS = 2


@dataclasses.dataclass(frozen=True)
class Interval:
  """A number with its 95 % interval."""
  value: float
  low: float
  high: float

  def __str__(self) -> str:
    return f'{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]'


@dataclasses.dataclass(frozen=True)
class Scores:
  """What is aggregated.

  Attributes:
    tasks: Columns, which all methods share.
    methods: `[runs, tasks]` for each method, 1 is D4RL's expert.
    left_out: Methods without enough runs on all of these tasks.
  """
  tasks: tuple[str, ...]
  methods: dict[str, np.ndarray]
  left_out: tuple[str, ...]


def scores(rows: Sequence[comparison.Row]) -> Scores:
  """The final scores of the methods that can be compared.

  Args:
    rows: Of the table.

  Returns:
    Methods with at least two runs on each of the tasks; which tasks, see
    `_largest_block`. Where the numbers of runs differ between tasks, the first
    seeds of each count, as many as every task has.
  """
  usable: dict[str, dict[str, np.ndarray]] = {}
  for row in rows:
    if len(row.runs) >= _MIN_RUNS:
      usable.setdefault(row.method, {})[row.task] = row.final / 100
  tasks = _largest_block(
      {method: frozenset(by_task) for method, by_task in usable.items()})
  methods = {}
  for method, by_task in usable.items():
    if all(task in by_task for task in tasks):
      count = min(len(by_task[task]) for task in tasks)
      methods[method] = np.stack(
          [by_task[task][:count] for task in tasks], axis=1)
  left_out = dict.fromkeys(
      row.method for row in rows if row.method not in methods)
  return Scores(tasks, methods, tuple(left_out))


def _largest_block(tasks_of: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
  """The tasks on which the most can be compared.

  Args:
    tasks_of: The tasks that each method was run on.

  Returns:
    Of all sets of tasks that some methods share, the one with the most cells,
    methods × tasks; one that two methods share before one of a single method.
  """
  shared: set[frozenset[str]] = set()
  for own in tasks_of.values():
    shared |= {own} | {own & other for other in shared}

  def worth(tasks: frozenset[str]) -> tuple[bool, int, int, list[str]]:
    count = sum(tasks <= own for own in tasks_of.values())
    return count > 1, count * len(tasks), len(tasks), sorted(tasks)

  best = max(shared - {frozenset()}, key=worth, default=frozenset())
  return tuple(sorted(best))


def intervals(data: Scores) -> dict[str, dict[str, Interval]]:
  """Median, IQM, mean and optimality gap of every method."""
  library, metrics = _rliable()

  def measure(values: np.ndarray) -> np.ndarray:
    return np.array([
        metrics.aggregate_median(values), metrics.aggregate_iqm(values),
        metrics.aggregate_mean(values),
        metrics.aggregate_optimality_gap(values, gamma=1.0)])

  with _reproducible():
    points, ranges = library.get_interval_estimates(
        data.methods, measure, reps=_REPETITIONS)
  return {method: _intervals(METRICS, points[method], ranges[method])
          for method in data.methods}


def improvement(data: Scores) -> dict[str, Interval]:
  """P(a run of X scores above a run of Y).

  Args:
    data: What is aggregated.

  Returns:
    By `X > Y`: X is DRVF (the best method where it was not run), Y each of the
    others. All pairs of a dozen methods take minutes, and no one reads them.
  """
  library, metrics = _rliable()
  first = 'DRVF' if 'DRVF' in data.methods else max(
      data.methods, key=lambda name: float(np.mean(data.methods[name])))
  pairs = {f'{first} > {other}': (data.methods[first], matrix)
           for other, matrix in data.methods.items() if other != first}
  if not pairs:
    return {}
  with _reproducible():
    points, ranges = library.get_interval_estimates(
        pairs, metrics.probability_of_improvement, reps=_REPETITIONS)
  return {pair: _intervals([pair], [points[pair]], ranges[pair])[pair]
          for pair in pairs}


def profiles(data: Scores) -> tuple[np.ndarray, Mapping[str, np.ndarray],
                                    Mapping[str, np.ndarray]]:
  """Performance profiles: the share of runs above each score.

  Args:
    data: What is aggregated.

  Returns:
    The scores, the share of each method at them, and its 95 % band `[2, :]`.
  """
  library, _ = _rliable()
  values = np.concatenate([matrix.ravel() for matrix in data.methods.values()])
  taus = np.linspace(min(0.0, float(np.min(values))),
                     float(np.max(values)) * 1.02, 101)
  with _reproducible():
    shares, bands = library.create_performance_profile(
        data.methods, taus, reps=_REPETITIONS)
  return taus, shares, bands


def _intervals(names: Sequence[str], points: Sequence[float],
               ranges: np.ndarray) -> dict[str, Interval]:
  flat: list[float] = [float(point) for point in np.ravel(points)]
  low, high = np.asarray(ranges, np.float64).reshape(2, -1)
  return {name: Interval(value, float(a), float(b))
          for name, value, a, b in zip(names, flat, low, high)}


@contextlib.contextmanager
def _reproducible() -> Iterator[None]:
  """rliable draws from NumPy's global generator, whatever it is given."""
  before = np.random.get_state()
  np.random.seed(0)
  try:
    yield
  finally:
    np.random.set_state(before)


def _rliable() -> tuple[Any, Any]:
  try:
    from rliable import library, metrics
  except ImportError as error:
    raise errors.UserError(
        'Aggregates over tasks need the package rliable: install it with '
        "`pip install 'drvf_tf[report]'`.") from error
  return library, metrics
