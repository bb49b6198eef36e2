"""Methods against tasks, by numbers computed by hand."""
from drvf_tf.report import comparison, gathering, overview
from tests.report import made_up_runs

_OTHER = made_up_runs.CONFIG + "train_eval.method = 'Other'\n"


def _rows(folder):
  return comparison.rows(gathering.gather([str(folder)])[0])


def test_a_cell_has_mean_std_seeds_and_minutes(tmp_path):
  for seed in (0, 1):
    made_up_runs.write(tmp_path / f'a{seed}', seed, [[10.0]],
                       [100.0 + seed])
  made_up_runs.write(tmp_path / 'b', 0, [[20.0]], [161.86], config=_OTHER)
  made_up_runs.write(tmp_path / 'h', 0, [[20.0]], [3234.3], config=_OTHER,
                     task='hopper-medium-v2')
  _, table, figure = overview.overview(_rows(tmp_path))
  assert list(table.header) == ['method', 'hopper-medium-v2',
                                'maze2d-umaze-v1']
  # 12 CPU-seconds for 60 steps are 0.2 minutes; (100.5 − 23.85) / 138.01 and
  # (161.86 − 23.85) / 138.01; hopper's expert has 3234.3.
  assert [list(row) for row in table.rows] == [
      ['Other', '100.0 (1) [0.2 min]', '100.0 (1) [0.2 min]'],
      ['DRVF', '–', '55.5 ± 0.5 (2) [0.2 min]']]
  panels = figure.picture.axes
  assert [axis.get_title() for axis in panels] == list(table.header)[1:]
  # The evaluation of step 5 of 60 is after a twelfth of the time.
  assert panels[0].lines[0].get_xdata()[0] == 0.2 / 12


def test_a_cell_says_what_the_task_makes_of_a_method(tmp_path):
  made_up_runs.write(tmp_path / 'a', 0, [[10.0]], [161.86])
  made_up_runs.write(tmp_path / 'b', 0, [[20.0]], [3234.3],
                     task='hopper-medium-v2', method='DRVF + BC',
                     config=made_up_runs.CONFIG.replace(
                         '@unconstrained', '@behaviour_cloning'))
  made_up_runs.write(tmp_path / 'c', 0, [[20.0]], [23.85], config=_OTHER)
  _, table, _ = overview.overview(_rows(tmp_path))
  assert list(table.rows[0]) == [
      'DRVF', '100.0 (1) [0.2 min], DRVF + BC', '100.0 (1) [0.2 min]']


def test_one_method_and_its_variants_need_none(tmp_path):
  made_up_runs.write(tmp_path / 'a', 0, [[10.0]], [100.0])
  made_up_runs.write(
      tmp_path / 'b', 0, [[20.0]], [60.0],
      config=made_up_runs.CONFIG.replace('num_members = 5', 'num_members = 3'))
  assert not overview.overview(_rows(tmp_path))
