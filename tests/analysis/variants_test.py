"""Which runs are variants of one another, and the smallest M."""
import pytest

from drvf_tf.analysis import comparison, gathering, variants
from tests.analysis import made_up_runs

_LOW, _HIGH = 23.85, 161.86  # D4RL's reference returns of maze2d-umaze-v1


def _write(folder, name, score, members=5, seed=0):
  config = made_up_runs.CONFIG.replace(
      'num_members = 5', f'num_members = {members}')
  made_up_runs.write(
      folder / f'{name}_{seed}', seed, [],
      [_LOW + score / 100 * (_HIGH - _LOW)], config=config, method=name)


def _families(folder):
  return variants.families(
      comparison.rows(gathering.gather([str(folder)])[0]))


def test_families_are_read_from_names(tmp_path):
  for name in ('DRVF, n=2', 'DRVF', 'DRVF, n=5', 'DRVF without repulsion',
               'DRVFX', 'EDAC', 'PBRL, M=2'):
    _write(tmp_path, name, 50)
  (family,) = _families(tmp_path)
  assert family.method == 'DRVF'
  assert [row.method for row in family.rows] == [
      'DRVF', 'DRVF, n=2', 'DRVF, n=5', 'DRVF without repulsion']
  (sweep,) = variants.sweeps(family)
  assert sweep.symbol == 'n'
  # DRVF itself has n = 10 in its configuration.
  assert [(value, row.method) for value, row in sweep.points] == [
      (2, 'DRVF, n=2'), (5, 'DRVF, n=5'), (10, 'DRVF')]
  assert not variants.by_members(family)


def test_variants_that_gin_alone_names_are_found_too(tmp_path):
  for seed in (0, 1):
    _write(tmp_path, 'DRVF', 50, seed=seed)
  made_up_runs.write(
      tmp_path / 'fewer', 0, [], [1.0], method='DRVF',
      config=made_up_runs.CONFIG.replace('num_members = 5', 'num_members = 3'))
  (family,) = _families(tmp_path)
  assert [value for value, _ in variants.by_members(family)] == [3, 5]


def test_the_smallest_number_of_members(tmp_path):
  _write(tmp_path, 'DRVF', 90)
  for members, score in ((2, 10), (3, 80), (4, 70), (6, 95)):
    _write(tmp_path, f'DRVF, M={members}', score, members)
  (family,) = _families(tmp_path)
  assert [value for value, _ in variants.by_members(family)] == [2, 3, 4, 5, 6]
  assert variants.smallest_members(family, 79.9) == 3
  assert variants.smallest_members(family, 85.0) == 5
  assert variants.smallest_members(family, 99.0) is None


@pytest.mark.parametrize('draw', [
    lambda family: variants.draw(family),
    lambda family: variants.draw_sweep(variants.sweeps(family)[0])])
def test_figures_show_the_means(tmp_path, draw):
  _write(tmp_path, 'DRVF', 30)
  _write(tmp_path, 'DRVF', 50, seed=1)
  _write(tmp_path, 'DRVF, n=2', 20)
  axis = draw(_families(tmp_path)[0]).axes[0]
  shown = ([bar.get_width() for bar in axis.patches]
           or sorted(axis.lines[0].get_ydata(), reverse=True))
  assert shown == pytest.approx([40, 20])
