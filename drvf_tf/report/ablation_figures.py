"""Pictures of `ablations`: scores of the variants, and how they came about."""
from typing import Any

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.report import ablations, comparison, score_figures

_TICK_WIDTH = 13  # characters
_WIDE = 8.0  # times the smallest value


def draw(ablation: ablations.Ablation) -> figure_lib.Figure:
  """Left the final scores, right the learning curves, in the same colours."""
  curves = all(len(run.evaluations) > 1
               for row in ablation.rows for run in row.runs)
  picture = figures.new(12.0 if curves else 8.0, 4.6)
  left, *right = picture.subplots(
      1, 1 + curves, squeeze=False, sharey=True,
      width_ratios=[1.0, 1.2][:1 + curves])[0]
  _draw_scores(left, ablation)
  if curves:
    score_figures.draw_curves(right[0], ablation.rows,
                        [point.label for point in ablation.points])
    right[0].set_title('during training', fontsize=10)
    figures.legend_beside(right[0])
  picture.suptitle(
      f'{ablation.task}: {ablation.method}, {ablation.kind.title}'
      if ablation.kind.is_number else f'{ablation.task}: {ablation.kind.title}')
  return picture


def _draw_scores(axis: Any, ablation: ablations.Ablation) -> None:
  points = ablation.points
  places = [point.value if ablation.kind.is_number else float(index)
            for index, point in enumerate(points)]
  table = [comparison.mean_and_std(point.row.final) for point in points]
  if ablation.kind.is_number:
    axis.plot(places, [mean for mean, _ in table], color='grey', linewidth=1)
    if max(places) > _WIDE * min(places):  # else small values lie on another
      axis.set_xscale('log')
    axis.set_xticks(places, [f'{value:g}' for value in places])
    axis.minorticks_off()
    axis.set_xlabel(ablation.kind.title)
  else:
    axis.set_xticks(places, [figures.wrap(point.label, _TICK_WIDTH)
                             for point in points], fontsize=9)
    axis.set_xlim(-0.6, len(points) - 0.4)
  for index, (place, (mean, std), point) in enumerate(
      zip(places, table, points)):
    look = {**figures.style(index), 'linestyle': 'none'}
    axis.errorbar(place, mean, np.nan_to_num(std), capsize=5, markersize=9,
                  **look)
    axis.plot([place] * len(point.row.final), point.row.final, 'o',
              color='black', markersize=3.5, zorder=3)
  axis.set_title('final episodes', fontsize=10)
  axis.set_ylabel(figures.SCORE)
  axis.grid(alpha=0.3)
