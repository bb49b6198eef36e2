"""Which runs are variants of one another, by name."""
import pytest

from drvf_tf.report import comparison, gathering, variants
from tests.report import made_up_runs


def _families(folder):
  return variants.families(
      comparison.rows(gathering.gather([str(folder)])[0]))


def test_families_are_read_from_names(tmp_path):
  for name in ('DRVF, n=2', 'DRVF', 'DRVF, n=5', 'DRVF without repulsion',
               'DRVFX', 'EDAC', 'PBRL, M=2'):
    made_up_runs.write(tmp_path / name, 0, [], [50.0], method=name)
  (family,) = _families(tmp_path)
  assert family.method == 'DRVF'
  assert [row.method for row in family.rows] == [
      'DRVF', 'DRVF, n=2', 'DRVF, n=5', 'DRVF without repulsion']


def test_rows_without_variants(tmp_path):
  for name in ('DRVF, n=2', 'DRVF', 'PBRL', 'PBRL + repulsion', 'EDAC, M=2',
               'EDAC, M=3'):
    made_up_runs.write(tmp_path / name, 0, [], [50.0], method=name)
  rows = comparison.rows(gathering.gather([str(tmp_path)])[0])
  assert [row.method for row in variants.without(rows)] == [
      'DRVF', 'EDAC, M=2', 'PBRL', 'PBRL + repulsion']


def test_a_method_with_a_constraint_keeps_its_row_among_shorter_variants(
    tmp_path):
  for name in ('DRVF + cloned_start', 'DRVF, no BNN', 'DRVF, no repulsion'):
    made_up_runs.write(tmp_path / name, 0, [], [50.0], method=name)
  rows = comparison.rows(gathering.gather([str(tmp_path)])[0])
  assert [row.method for row in variants.without(rows)] == [
      'DRVF + cloned_start']
  (family,) = _families(tmp_path)
  assert [row.method for row in family.rows] == [
      'DRVF + cloned_start', 'DRVF, no BNN', 'DRVF, no repulsion']


def test_tasks_share_a_name_whatever_constraint_a_file_gives(tmp_path):
  def write(name, task, constraint=None):
    config = made_up_runs.CONFIG if constraint is None else (
        made_up_runs.CONFIG.replace('@unconstrained', constraint))
    made_up_runs.write(tmp_path / f'{name}{task}', 0, [], [50.0], method=name,
                       task=task, config=config)

  write('DRVF', 'maze2d-umaze-v1')
  write('DRVF + model', 'maze2d-umaze-v1')  # no constraint: a method
  write('MSG', 'antmaze-umaze-v2', '@behaviour_cloning')
  write('DRVF + BC', 'antmaze-umaze-v2', '@behaviour_cloning')
  write('DRVF', 'hopper-medium-v2')
  write('DRVF + BC', 'hopper-medium-v2', '@behaviour_cloning')
  rows = comparison.rows(gathering.gather([str(tmp_path)])[0])
  assert [(row.task, row.method) for row in variants.across_tasks(rows)] == [
      ('antmaze-umaze-v2', 'DRVF'), ('antmaze-umaze-v2', 'MSG'),
      ('hopper-medium-v2', 'DRVF'), ('hopper-medium-v2', 'DRVF + BC'),
      ('maze2d-umaze-v1', 'DRVF'), ('maze2d-umaze-v1', 'DRVF + model')]


def test_bars_are_the_means(tmp_path):
  for seed, value in enumerate((23.85, 161.86)):  # scores 0 and 100
    made_up_runs.write(tmp_path / f'{seed}', seed, [], [value], method='DRVF')
  made_up_runs.write(tmp_path / 'n', 0, [], [161.86], method='DRVF, n=2')
  axis = variants.draw(_families(tmp_path)[0]).axes[0]
  assert [bar.get_width() for bar in axis.patches] == pytest.approx([50, 100])
