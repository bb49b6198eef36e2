"""Pictures of `aggregates`."""
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.report import aggregates


def draw_intervals(found: Mapping[str, Mapping[str, aggregates.Interval]]
                   ) -> figure_lib.Figure:
  """One panel for each metric, a bar of 95 % for each method."""
  picture = figures.new(11.0, 1.3 + 0.45 * len(found))
  axes = picture.subplots(1, len(aggregates.METRICS), sharey=True)
  for axis, metric in zip(axes, aggregates.METRICS):
    _draw_bars(axis, [values[metric] for values in found.values()])
    axis.set(title=metric, xlabel='score, 1: expert')
  _label(axes[0], list(found))
  return picture


def draw_improvement(found: Mapping[str, aggregates.Interval]
                     ) -> figure_lib.Figure:
  """P(X > Y) with 95 % intervals."""
  picture = figures.new(8.0, 1.1 + 0.5 * len(found))
  axis = picture.subplots()
  _draw_bars(axis, list(found.values()), one_colour=True)
  axis.axvline(0.5, color='grey', linewidth=1, linestyle=':')
  axis.set(xlim=(-0.02, 1.02), xlabel='P(X > Y), a probability')
  _label(axis, list(found))
  return picture


def draw_profile(data: aggregates.Scores) -> figure_lib.Figure:
  """The share of runs above each score."""
  picture = figures.new(8.5, 4.2)
  axis = picture.subplots()
  taus, shares, bands = aggregates.profiles(data)
  for index, method in enumerate(data.methods):
    look = {**figures.style(index), 'marker': ''}
    axis.plot(100 * taus, shares[method], label=figures.wrap(method), **look)
    axis.fill_between(100 * taus, *bands[method], alpha=0.18,
                      color=look['color'], linewidth=0)
  axis.set(xlabel=figures.SCORE, ylabel='share of runs above the score',
           ylim=(-0.02, 1.02))
  axis.grid(alpha=0.3)
  figures.legend_beside(axis)
  return picture


def _draw_bars(axis: Any, values: Sequence[aggregates.Interval],
               one_colour: bool = False) -> None:
  for index, value in enumerate(values):
    axis.barh(index, value.high - value.low, left=value.low, height=0.6,
              color=figures.style(0 if one_colour else index)['color'],
              alpha=0.6)
    axis.plot([value.value] * 2, [index - 0.3, index + 0.3], color='black')
  axis.use_sticky_edges = False  # else bars begin at the very frame
  axis.margins(x=0.08)
  axis.grid(alpha=0.3, axis='x')


def _label(axis: Any, labels: Sequence[str]) -> None:
  axis.set_yticks(range(len(labels)), [figures.wrap(name) for name in labels])
  axis.set_ylim(len(labels) - 0.5, -0.5)
