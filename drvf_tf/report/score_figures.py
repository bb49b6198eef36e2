"""Pictures of scores: learning curves and bars."""
import collections
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import figure as figure_lib
from matplotlib import ticker

from drvf_tf import figures
from drvf_tf.report import comparison


def learning_curves(rows: Sequence[comparison.Row]) -> figure_lib.Figure:
  """Score over train steps: mean over seeds, ± one standard deviation.

  Args:
    rows: Of one task.

  Returns:
    The figure.
  """
  picture = figures.new(9.0, 4.5)
  axis = picture.subplots()
  draw_curves(axis, rows, [row.method for row in rows])
  axis.set(ylabel=figures.SCORE, title=rows[0].task)
  figures.legend_beside(axis)
  return picture


def draw_curves(axis: Any, rows: Sequence[comparison.Row],
                labels: Sequence[str]) -> None:
  """Draws the curves of rows, in the order of `figures.style`, into an axis."""
  apart = 0.015 * max(row.steps for row in rows)
  for index, (row, label) in enumerate(zip(rows, labels)):
    steps, mean, std = curve(row)
    look = figures.style(index)
    axis.plot(steps, mean, markersize=4, markevery=max(1, len(steps) // 12),
              label=figures.wrap(f'{label} ({len(row.runs)} '
                         f'seed{"s" if len(row.runs) > 1 else ""})'), **look)
    axis.fill_between(steps, mean - std, mean + std, alpha=0.18,
                      color=look['color'], linewidth=0)
    axis.errorbar(row.steps + (index + 1) * apart, np.mean(row.final),
                  yerr=np.nan_to_num(comparison.mean_and_std(row.final)[1]),
                  marker='*', markersize=9, color=look['color'], capsize=3)
  axis.plot([], [], '*', color='grey', markersize=11, label='final episodes')
  axis.set(xlabel='train steps')
  axis.xaxis.set_major_formatter(lambda value, _: f'{value:,.0f}')
  axis.xaxis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
  axis.margins(x=0.03)
  axis.grid(alpha=0.3)


def curve(row: comparison.Row) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Steps, mean and std over seeds, where all seeds were evaluated."""
  scores: dict[int, list[float]] = collections.defaultdict(list)
  for run in row.runs:
    for evaluation in run.evaluations:
      scores[evaluation.step].append(evaluation.score)
  steps = sorted(step for step, values in scores.items()
                 if len(values) == len(row.runs))
  table = [comparison.mean_and_std(scores[step]) for step in steps]
  means, stds = np.array(table).reshape(-1, 2).T
  return np.array(steps), means, np.nan_to_num(stds)


def bars(labels: Sequence[str], values: Sequence[comparison.Values],
         ylabel: str, title: str) -> figure_lib.Figure:
  """Bars of means, with each seed as a dot and the std as a whisker.

  Args:
    labels: Of the bars.
    values: One sequence of seeds for each bar.
    ylabel: Of the values, with their unit.
    title: Of the figure.

  Returns:
    The figure.
  """
  picture = figures.new(9.0, 0.9 + 0.62 * len(labels))
  axis = picture.subplots()
  for index, seeds in enumerate(values):
    mean, std = comparison.mean_and_std(seeds)
    axis.barh(index, mean, xerr=np.nan_to_num(std), height=0.62,
              color=figures.COLOURS[0], alpha=0.5, capsize=4)
    axis.plot(seeds, [index] * len(seeds), 'o', color='black', markersize=4,
              zorder=3)
  axis.set_yticks(range(len(labels)), [figures.wrap(label) for label in labels])
  axis.invert_yaxis()
  axis.set(xlabel=ylabel, title=title)
  axis.grid(alpha=0.3, axis='x')
  return picture
