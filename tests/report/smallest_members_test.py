"""Fig. 4: the smallest M that reaches a score, as table and picture."""
import pytest

from drvf_tf.report import ablations, comparison, gathering, smallest_members
from tests.report import made_up_ablations, made_up_runs


@pytest.fixture(name='ablation')
def _ablation(tmp_path):
  low, high = made_up_ablations.LOW, made_up_ablations.HIGH
  for members, score in ((2, 10), (3, 80), (4, 70), (5, 90), (6, 95)):
    made_up_runs.write(
        tmp_path / f'{members}', 0, [], [low + score / 100 * (high - low)],
        method='DRVF' if members == 5 else f'DRVF, M={members}',
        config=made_up_runs.CONFIG.replace('num_members = 5',
                                           f'num_members = {members}'))
  (found,) = ablations.find(
      comparison.rows(gathering.gather([str(tmp_path)])[0]))
  return found


@pytest.mark.parametrize('score, reached, smallest', [
    (79.9, (3, 5, 6), 3), (85.0, (5, 6), 5), (99.0, (), None),
    (None, (6,), 6)])  # 95 % of 95 is 90.25
def test_the_smallest_number_of_members(ablation, score, reached, smallest):
  found = smallest_members.of(ablation, score)
  assert found.reaching == reached
  assert found.smallest == smallest
  (cells,) = smallest_members.cells([found])
  assert cells[3:] == ['2, 3, 4, 5, 6', str(smallest or 'none')]


@pytest.mark.parametrize('score, smallest', [(79.9, 3), (99.0, None)])
def test_the_picture(ablation, score, smallest):
  picture = smallest_members.draw([smallest_members.of(ablation, score)])
  (axis,) = picture.axes
  assert [bar.get_width() for bar in axis.patches] == (
      [smallest] if smallest else [])
  full = [line.get_xdata()[0] for line in axis.lines
          if len(line.get_xdata()) and line.get_markerfacecolor() == 'black']
  assert full == ([3, 5, 6] if smallest else [])
  (text,) = axis.texts
  assert text.get_text() == (
      f'smallest: {smallest}' if smallest else 'none is enough')


def test_below_a_negative_best(ablation):
  row = ablation.points[0].row
  low = made_up_ablations.LOW - 50
  for run in row.runs:
    run.final.scores[:] = low
  point = ablations.Point('M = 2', 2, row)
  only = ablations.Ablation(ablation.kind, 'x', 'y', (point, point))
  assert smallest_members.of(only, None).smallest == 2
