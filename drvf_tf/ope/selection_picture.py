"""Criteria beside a simulator's scores: a picture for each."""
import math
import pathlib
from collections.abc import Sequence

import numpy as np
from matplotlib import figure as figure_lib
from matplotlib import ticker

from drvf_tf import figures
from drvf_tf.ope import selection


def save(found: Sequence[selection.Candidate],
         path: pathlib.Path) -> pathlib.Path:
  """Draws the picture into a PNG file and gives its path."""
  draw(found).savefig(path, dpi=110)
  return path


def draw(found: Sequence[selection.Candidate]) -> figure_lib.Figure:
  """A panel for each criterion; its first choice is ringed."""
  judged = selection.judge(found)
  columns = min(4, len(judged))
  rows = math.ceil(len(judged) / columns)
  picture = figures.new(3.1 * columns, 2.7 * rows + 0.5)
  axes = np.atleast_1d(picture.subplots(rows, columns)).ravel()
  methods = sorted({one.method for one in found})
  for axis, verdict in zip(axes, judged):
    name = verdict.criterion
    ranked = [one for one in found
              if name in one.criteria and one.score is not None]
    for number, method in enumerate(methods):
      own = [one for one in ranked if one.method == method]
      axis.scatter([one.criteria[name] for one in own],
                   [one.score for one in own], s=22, label=method,
                   color=figures.COLOURS[number % len(figures.COLOURS)],
                   marker=figures.style(number)['marker'])
    best = max(ranked, key=lambda one: one.criteria[name])
    axis.scatter([best.criteria[name]], [best.score], s=130,
                 facecolors='none', edgecolors='black')
    axis.set(xlabel=selection.CRITERIA[name], ylabel='score')
    axis.set_title(f'rank {verdict.correlation:+.2f}, regret@1 '
                   f'{verdict.regret:.1f}', fontsize=9)
    axis.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axis.grid(alpha=0.3)
  for axis in axes[len(judged):]:
    axis.axis('off')
  handles, labels = axes[0].get_legend_handles_labels()
  picture.legend(handles, labels, loc='outside lower center', fontsize=8,
                 ncols=min(5, len(methods)), frameon=False)
  return picture
