"""How a train step's cost grows with M, n, K, B and the dataset's size."""
import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from matplotlib import figure as figure_lib

from drvf_tf import data, figures
from drvf_tf.benchmark import step_cost, timing

# What varies, by its name in the picture: the field of `Sizes`, the values.
_FIELDS = {
    'M, members': ('members', (1, 2, 5, 10)),
    'n, samples': ('samples', (1, 5, 10, 20, 50)),
    'K, OOD actions': ('ood_actions', (1, 5, 10, 20)),
    'B, rows of a batch': ('batch', (64, 128, 256, 512)),
}
_ROWS = 'rows of the dataset'
_ROW_COUNTS = (10_000, 100_000, 1_000_000, 2_000_000)


class Point(NamedTuple):
  """One size: what varies, its value, and a step's cost.

  Attributes:
    axis: What varies.
    value: Its value.
    flops: Operations of a step.
    milliseconds: CPU time of a step, the median over rounds.
  """
  axis: str
  value: int
  flops: float
  milliseconds: float


def measure(base: step_cost.Sizes, rounds: int) -> list[Point]:
  """Times a step at every size, all of them in turns."""
  named: dict[tuple[str, int], timing.Candidate] = {}
  for axis, (field, values) in _FIELDS.items():
    for value in values:
      changes: dict[str, Any] = {field: value}
      if field == 'batch':
        changes['ood_states'] = value
      named[axis, value] = step_cost.drvf(
          dataclasses.replace(base, **changes), f'{axis} {value}')
  for value in _ROW_COUNTS:
    named[_ROWS, value] = _sampling(base, value)
  costs = timing.interleave(list(named.values()), rounds)
  return [
      Point(axis, value, candidate.flops, 1e3 * float(np.median(
          timing.cpu_seconds(costs[candidate.name]))))
      for (axis, value), candidate in named.items()]


def _sampling(sizes: step_cost.Sizes, rows: int) -> timing.Candidate:
  """A step on batches that are drawn from a dataset of so many rows."""
  rng = np.random.default_rng(0)

  def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)

  dataset = data.from_arrays({
      'observations': normal(rows, sizes.observation),
      'actions': np.tanh(normal(rows, sizes.action)),
      'rewards': normal(rows), 'terminals': np.zeros(rows, bool),
      'next_observations': normal(rows, sizes.observation)}, 'noise')
  sampler = data.TransitionSampler(dataset, sizes.batch, seed=0)
  learner = step_cost.agent(sizes)

  @tf.function
  def step(count):
    for _ in tf.range(count):
      learner.train(sampler(learner.train_step_counter))

  return timing.Candidate(f'{_ROWS} {rows}', timing.timed(step),
                          step_cost.drvf_flops(sizes), 0)


def table(points: Sequence[Point]) -> str:
  """Markdown: one row for each size, beside the growth of the operations."""
  lines = ['| | value | CPU ms/step | × the first | operations × the first |',
           '|---|---|---|---|---|']
  first: dict[str, Point] = {}
  for point in points:
    base = first.setdefault(point.axis, point)
    lines.append(
        f'| {point.axis} | {point.value:,} | {point.milliseconds:.1f} | '
        f'{point.milliseconds / base.milliseconds:.2f} | '
        f'{point.flops / base.flops:.2f} |')
  return '\n'.join(lines)


def picture(points: Sequence[Point], sizes: step_cost.Sizes,
            ) -> figure_lib.Figure:
  """One panel for each axis: measured, and in proportion to operations."""
  axes_names = list(dict.fromkeys(point.axis for point in points))
  drawing = figures.new(3.0 * len(axes_names), 3.4)
  panels = drawing.subplots(1, len(axes_names), sharey=True)
  for panel, axis in zip(panels, axes_names):
    own = [point for point in points if point.axis == axis]
    values = [point.value for point in own]
    scale = own[-1].milliseconds / own[-1].flops
    panel.plot(values, [point.milliseconds for point in own],
               **figures.style(0), label='measured')
    panel.plot(values, [point.flops * scale for point in own], ':',
               color=figures.COLOURS[1], label='in proportion to operations')
    panel.set(xlabel=axis, ylim=(0, None))
    if axis == _ROWS:
      panel.set_xscale('log')
  panels[0].set_ylabel('CPU ms per step, one thread')
  panels[0].legend(frameon=False, fontsize=8)
  drawing.suptitle(
      f'Around M {sizes.members}, n {sizes.samples}, K {sizes.ood_actions} at '
      f'{sizes.ood_states} states, B {sizes.batch}, '
      f'{len(sizes.hidden)}×{sizes.hidden[0]}', fontsize=10)
  return drawing
