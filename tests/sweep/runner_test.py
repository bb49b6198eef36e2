"""Retries, refusals, stopping and going on, with a fast command."""
import json

import pytest

from drvf_tf import errors
from drvf_tf.sweep import attempt, runner, states, sweep_folder
from tests.sweep import fakes


def _starts(cell):
  path = cell.run_dir / 'starts.json'
  return json.loads(path.read_text()) if path.exists() else 0


def _run(todo, out, retries=3, interrupted=lambda: False):
  screen = fakes.Screen()
  ended = runner.Runner(
      fakes.ThreadPool(), screen, fakes.surroundings(out), retries).run(
          todo, interrupted)
  return ended, screen.said


def test_crashes_are_retried_and_errors_are_not(tmp_path):
  todo = [fakes.cell(tmp_path, do)
          for do in ('finish', 'crash_once', 'crash', 'refuse')]
  finish, crash_once, crash, refuse = todo
  ended, said = _run(todo, tmp_path, retries=1)
  assert list(map(_starts, todo)) == [1, 2, 2, 1]
  assert ended[finish].ending is attempt.Ending.FINISHED
  assert ended[crash_once].ending is attempt.Ending.FINISHED
  assert dict(runner.failures(ended)) == {
      crash: 'exit code 1: RuntimeError: no luck',
      refuse: 'This cannot be used: mend it.\n-a\n+b'}
  assert ('task crash_once seed 0: killed by SIGKILL; attempt 2 of 2 resumes '
          'from its last checkpoint.') in said
  assert 'task refuse seed 0: failed: This cannot be used: mend it.' in said
  assert states.read(crash.run_dir).phase is states.Phase.FAILED
  assert states.read(refuse.run_dir).note.startswith('This cannot be used')
  assert states.read(crash_once.run_dir) == states.State(
      states.Phase.FINISHED, 40, 40, 7.25)


def test_the_same_sweep_skips_what_is_finished_and_tries_the_rest(tmp_path):
  todo = [fakes.cell(tmp_path, do) for do in ('finish', 'crash_once')]
  _run(todo, tmp_path, retries=0)
  left = [cell for cell in todo if not states.is_finished(cell)]
  assert left == todo[1:]
  ended, _ = _run(left, tmp_path, retries=0)
  assert not runner.failures(ended)
  assert list(map(_starts, todo)) == [1, 2]


def test_stopping_saves_and_starts_nothing_more(tmp_path):
  todo = [fakes.cell(tmp_path, 'wait', seed) for seed in range(3)]
  ready = [cell.run_dir / 'ready' for cell in todo[:2]]  # two at a time
  ended, said = _run(
      todo, tmp_path, interrupted=lambda: all(path.exists() for path in ready))
  assert {outcome.ending for outcome in ended.values()} == {
      attempt.Ending.STOPPED}
  assert list(map(_starts, todo)) == [1, 1, 0]
  assert all((cell.run_dir / 'saved').exists() for cell in todo[:2])
  assert said[0].startswith('Stopping')
  assert states.read_record(todo[0].run_dir).get('failed') is None


def test_two_sweeps_in_one_folder_are_refused(tmp_path):
  with sweep_folder.SweepFolder(tmp_path / 'out') as folder:
    folder.stop.touch()
    with pytest.raises(errors.UserError, match='Another sweep is running'):
      sweep_folder.SweepFolder(tmp_path / 'out')
    assert folder.stop.exists()  # the other did not touch it
  with sweep_folder.SweepFolder(tmp_path / 'out') as folder:
    assert not folder.stop.exists()


def test_a_stop_of_a_killed_sweep_is_forgotten(tmp_path):
  (tmp_path / '.sweep.stop').touch()
  with sweep_folder.SweepFolder(tmp_path) as folder:
    assert not folder.stop.exists()
  (tmp_path / 'file').write_text('')
  with pytest.raises(errors.UserError, match='cannot be written'):
    sweep_folder.SweepFolder(tmp_path / 'file' / 'out')
