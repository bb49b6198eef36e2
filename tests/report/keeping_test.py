"""Records of runs: as good as the runs to a report, and without paths."""
import pathlib

import pytest

from drvf_tf import errors
from drvf_tf.report import gathering, page
from tests.report import made_up_runs


def _runs(folder: pathlib.Path) -> pathlib.Path:
  for seed in (0, 1):
    made_up_runs.write(folder / f'a{seed}', seed, [[10.0, 50.0]] * 3,
                       [100.0 + seed])
  made_up_runs.write(
      folder / 'b', 0, [[20.0, 30.0]], [60.0],
      config=made_up_runs.CONFIG.replace('num_members = 5', 'num_members = 3'))
  (folder / 'a0' / 'checkpoints').mkdir()
  (folder / 'a0' / 'checkpoints' / 'large').write_text('networks')
  return folder


def _results(report: pathlib.Path) -> str:
  return (report / 'tables' / 'results.csv').read_text()


def test_a_report_on_records_is_the_report_on_the_runs(tmp_path):
  runs, records = _runs(tmp_path / 'runs'), tmp_path / 'records'
  page.make([str(runs)], tmp_path / 'one', records=records)
  assert sorted(str(path.relative_to(records))
                for path in records.rglob('run.json')) == [
                    'maze2d-umaze-v1/drvf/0-seed0/run.json',
                    'maze2d-umaze-v1/drvf/0-seed1/run.json',
                    'maze2d-umaze-v1/drvf/1-seed0/run.json']
  page.make([str(records)], tmp_path / 'two')
  assert _results(tmp_path / 'one') == _results(tmp_path / 'two')
  assert 'networks' not in ''.join(
      path.read_text() for path in records.rglob('*') if path.is_file())
  assert str(tmp_path) not in ''.join(
      path.read_text() for path in records.rglob('*') if path.is_file())


def test_what_is_kept_is_kept_once_and_stays(tmp_path):
  runs, records = _runs(tmp_path / 'runs'), tmp_path / 'records'
  page.make([str(runs)], tmp_path / 'report', records=records)
  before = {path: path.read_bytes() for path in records.rglob('*')
            if path.is_file()}
  page.make([str(runs)], tmp_path / 'report', records=records)
  assert before == {path: path.read_bytes() for path in records.rglob('*')
                    if path.is_file()}
  made_up_runs.write(tmp_path / 'later', 2, [[1.0]], [2.0])
  page.make([str(tmp_path / 'later')], tmp_path / 'report', records=records)
  found, _ = gathering.gather([str(records)])
  assert [(run.seed, run.final.returns[0]) for run in found] == [
      (0, 100.0), (0, 60.0), (1, 101.0), (2, 2.0)]
  assert ',3,' in _results(tmp_path / 'report')  # seeds of the first row


def test_data_that_do_not_say_what_they_are_are_said_to_be(tmp_path):
  def origins(folder):
    return [run.origin for run in gathering.gather([str(folder)])[0]]

  made_up_runs.write(tmp_path / 'runs' / 'told', 0, [], [1.0],
                     dataset='a.hdf5 (generated)')
  made_up_runs.write(tmp_path / 'runs' / 'untold', 1, [], [1.0],
                     dataset='a.hdf5')
  assert 'a.hdf5, origin not noted in the file' in origins(tmp_path / 'runs')
  page.make([str(tmp_path / 'runs')], tmp_path / 'report',
            records=tmp_path / 'records', origin='regenerated')
  assert origins(tmp_path / 'records') == [
      'generated, not D4RL', 'regenerated, not D4RL']
  text = (tmp_path / 'report' / 'report.md').read_text()
  assert 'origin not noted' not in text


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
  runs = _runs(tmp_path / 'runs')
  (tmp_path / 'records').write_text('a file')
  with pytest.raises(errors.UserError, match='with --keep'):
    page.make([str(runs)], tmp_path / 'report', records=tmp_path / 'records')
