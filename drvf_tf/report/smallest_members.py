"""Fig. 4: the smallest M that reaches a score."""
import dataclasses
from collections.abc import Sequence
from typing import Any, Optional

from matplotlib import figure as figure_lib
from matplotlib import ticker

from drvf_tf import figures
from drvf_tf.report import ablations, comparison

SHARE = 0.95  # of the best mean score, where no score is asked for


@dataclasses.dataclass(frozen=True)
class Smallest:
  """One method on one task.

  Attributes:
    task: The task's name.
    method: The method's name.
    score: To be reached.
    means: (M, mean final score) of the values that were tried.
  """
  task: str
  method: str
  score: float
  means: tuple[tuple[int, float], ...]

  @property
  def reaching(self) -> tuple[int, ...]:
    """The values of M whose mean score is enough."""
    return tuple(m for m, mean in self.means if mean >= self.score)

  @property
  def smallest(self) -> Optional[int]:
    """The answer; None where no value that was tried is enough."""
    return min(self.reaching, default=None)


def of(ablation: ablations.Ablation, score: Optional[float]) -> Smallest:
  """The smallest M of an ablation over M.

  Args:
    ablation: Of `ablations.MEMBERS`.
    score: To be reached; None for 95 % of the best mean.

  Returns:
    It.
  """
  means = tuple((int(point.value),
                 comparison.mean_and_std(point.row.final)[0])
                for point in ablation.points)
  best = max(mean for _, mean in means)
  # Below a best score also where that is negative.
  reach = best - (1 - SHARE) * abs(best) if score is None else score
  return Smallest(ablation.task, ablation.method, reach, means)


def cells(found: Sequence[Smallest]) -> list[list[str]]:
  """Rows of the table."""
  return [[one.task, one.method, f'{one.score:.1f}',
           ', '.join(str(m) for m, _ in one.means),
           'none' if one.smallest is None else str(one.smallest)]
          for one in found]


def draw(found: Sequence[Smallest]) -> figure_lib.Figure:
  """A bar for each task and method, dots for the values that were tried."""
  picture = figures.new(9.0, 1.7 + 0.55 * len(found))
  axis = picture.subplots()
  methods = list(dict.fromkeys(one.method for one in found))
  for line, one in enumerate(found):
    colour = figures.style(methods.index(one.method))['color']
    if one.smallest is not None:
      axis.barh(line, one.smallest, height=0.6, color=colour, alpha=0.55)
    _draw_tried(axis, line, one)
  largest = max(m for one in found for m, _ in one.means)
  axis.plot([], [], 'o', color='black', label='M that reaches the score')
  axis.plot([], [], 'o', color='black', markerfacecolor='white',
            label='M that does not')
  axis.set_yticks(range(len(found)), [
      f'{one.task}\n{figures.wrap(one.method)}, score ≥ {one.score:.1f}'
      for one in found])
  axis.set(xlabel='smallest M, members of the ensemble',
           xlim=(0, 1.3 * largest), ylim=(len(found) - 0.4, -0.6))
  axis.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
  axis.grid(alpha=0.3, axis='x')
  picture.legend(loc='outside lower center', ncols=2, frameon=False)
  return picture


def _draw_tried(axis: Any, line: int, one: Smallest) -> None:
  for members, mean in one.means:
    enough = mean >= one.score
    axis.plot(members, line, 'o', color='black', markersize=6, zorder=3,
              markerfacecolor='black' if enough else 'white')
  last = max(members for members, _ in one.means)
  axis.annotate('none is enough' if one.smallest is None
                else f'smallest: {one.smallest}', (last, line), xytext=(10, 0),
                textcoords='offset points', va='center', fontsize=9)
