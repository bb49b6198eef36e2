"""The section that opens a report: methods against tasks, in one table."""
import math
from collections.abc import Sequence
from typing import Optional

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.report import comparison, document, score_figures, variants


def overview(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """Final scores of all methods on all tasks, and their curves over time.

  Variants of a method have sections of their own; what a task's file makes of
  a method ("DRVF + BC") is said in its cell.

  Args:
    rows: Of the table.

  Returns:
    Blocks of the section; none where there is but one method.
  """
  rows = variants.across_tasks(rows)
  tasks = list(dict.fromkeys(row.task for row in rows))
  methods = list(dict.fromkeys(row.method for row in rows))
  if len(methods) < 2:
    return []
  by_cell = {(row.method, row.task): row for row in rows}
  methods.sort(key=lambda method: -np.mean(
      [np.mean(by_cell[method, task].final) for task in tasks
       if (method, task) in by_cell]))
  around = comparison.circumstances(rows)
  return [
      document.Heading('Methods and tasks'),
      document.Table(
          'overview',
          'Normalised scores of the final episodes, mean ± sample standard '
          'deviation over seeds (how many); in brackets the CPU-minutes of a '
          f"run's train steps. {around}", ['method', *tasks],
          [[method, *(_cell(by_cell.get((method, task))) for task in tasks)]
           for method in methods]),
      document.Figure(
          'overview', 'Scores during training over CPU time, mean over seeds; '
          f'stars are the final episodes. {around}',
          _curves(rows, tasks, methods))]


def _cell(row: Optional[comparison.Row]) -> str:
  if row is None:
    return '–'
  time = '' if math.isnan(row.cpu_minutes) else f' [{row.cpu_minutes:.1f} min]'
  full = row.runs[0].method
  shared = full == row.method or full.startswith(f'{row.method},')
  name = '' if shared else f', {full}'
  return f'{comparison.plus_minus(row.final)} ({row.num_seeds}){time}{name}'


def _curves(rows: Sequence[comparison.Row], tasks: Sequence[str],
            methods: Sequence[str]) -> figure_lib.Figure:
  """A panel for each task; a method looks the same in all of them."""
  columns = min(2, len(tasks))
  lines = -(-len(tasks) // columns)
  picture = figures.new(5.5 * columns, 3.4 * lines + 1.0)
  axes = np.ravel(picture.subplots(lines, columns, squeeze=False))
  for axis, task in zip(axes, tasks):
    for row in (row for row in rows if row.task == task):
      look = figures.style(methods.index(row.method))
      steps, mean, std = score_figures.curve(row)
      minutes = steps * row.cpu_minutes / row.steps
      axis.plot(minutes, mean, markersize=3.5, linewidth=1.3,
                markevery=max(1, len(steps) // 8), **look)
      axis.fill_between(minutes, mean - std, mean + std, alpha=0.12,
                        color=look['color'], linewidth=0)
      axis.plot(row.cpu_minutes * 1.02, np.mean(row.final), marker='*',
                markersize=10, color=look['color'])
    axis.set(title=task, xlabel='CPU-minutes of training',
             ylabel='normalised score')
    axis.grid(alpha=0.3)
  for axis in axes[len(tasks):]:
    axis.remove()
  for index, method in enumerate(methods):
    axes[0].plot([], [], label=method, **figures.style(index))
  picture.legend(loc='outside lower center', ncols=5, frameon=False, fontsize=9)
  return picture
