"""Criteria beside a simulator's scores: a picture for each."""
import math
import pathlib
from collections.abc import Sequence

import numpy as np
from matplotlib import figure as figure_lib
from matplotlib import lines, ticker

from drvf_tf import figures
from drvf_tf.ope import ranking


def save(found: Sequence[ranking.Candidate],
         path: pathlib.Path) -> pathlib.Path:
  """Draws the picture into a PNG file and gives its path."""
  draw(found).savefig(path, dpi=110)
  return path


def draw(found: Sequence[ranking.Candidate]) -> figure_lib.Figure:
  """A panel for each criterion; its first choice is ringed."""
  judged = ranking.judge(found)
  scored = [one for one in found if one.score is not None]
  columns = max(1, min(4, len(judged)))
  rows = max(1, math.ceil(len(judged) / columns))
  picture = figures.new(3.1 * columns, 2.8 * rows + 0.5)
  # One scale of scores: a criterion that some methods do not have would else
  # look as if it told its few apart as well.
  axes = np.atleast_1d(picture.subplots(rows, columns, sharey=True)).ravel()
  methods = sorted({one.method for one in scored})
  for axis, verdict in zip(axes, judged):
    name = verdict.criterion
    order = ranking.ranked(scored, name)
    for number, method in enumerate(methods):
      own = [one for one in order if one.method == method]
      axis.plot([one.criteria[name] for one in own],
                [one.score for one in own], **_dots(number))
    axis.scatter([order[0].criteria[name]], [order[0].score], s=130,
                 facecolors='none', edgecolors='black', zorder=3)
    axis.set_xlabel(ranking.CRITERIA[name])
    part = ('' if verdict.policies == len(scored) else
            f'\n{verdict.policies} of {len(scored)} policies')
    axis.set_title(f'rank {verdict.correlation:+.2f}, regret@1 '
                   f'{verdict.regret:.1f}{part}', fontsize=9)
    axis.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axis.grid(alpha=0.3)
  for axis in axes[::columns]:
    axis.set_ylabel('score')
  for axis in axes[len(judged):]:
    axis.axis('off')
  picture.legend(
      [lines.Line2D([], [], **_dots(number)) for number in range(len(methods))],
      methods, loc='outside lower center', fontsize=9,
      ncols=min(8, max(1, len(methods))), frameon=False)
  return picture


def _dots(number: int) -> dict:
  """How a method's dots look; some lie upon each other."""
  style = figures.style(number)
  return {'linestyle': 'none', 'marker': style['marker'],
          'color': style['color'], 'markersize': 7, 'alpha': 0.85,
          'markeredgecolor': 'white', 'markeredgewidth': 0.5}
