"""Eq. (13) in numbers."""
import pytest

from drvf_tf.report import comparison, gathering, pessimism
from tests.report import made_up_runs


def test_the_grid_is_of_products():
  table = {row[0]: row[1:] for row in pessimism.grid()}
  across = dict(zip(pessimism.SAMPLES, table['M = 5']))
  assert across[1] == '1.19'
  assert across[2] == '1.56'
  assert across[10] == '2.25'
  assert table['M = 1'][0] == '0.00'


def test_the_approximation_is_near_the_exact_value():
  # E[max of 2] = 1/√π, of 3 = 3/(2√π).
  assert pessimism.exact(2) == pytest.approx(0.5641896, abs=1e-6)
  assert pessimism.exact(3) == pytest.approx(0.8462844, abs=1e-6)
  for count in (5, 50, 500):
    assert pessimism.coefficient(count) == pytest.approx(
        pessimism.exact(count), abs=0.04)


@pytest.mark.parametrize('lines, expected', [
    ('', ('minimum', 50)),
    ('DRVFAgent.backup = @independent_minimum', ('independent_minimum', 10)),
    ('DRVFAgent.backup = @lcb', None)])
def test_the_samples_under_a_row_s_minimum(tmp_path, lines, expected):
  made_up_runs.write(tmp_path / 'a', 0, [], [1.0],
                     config=made_up_runs.CONFIG + lines)
  (row,) = comparison.rows(gathering.gather([str(tmp_path)])[0])
  assert pessimism.of_row(row) == expected
