"""Attempts at a fast command, and processes that die with their parent."""
import os
import signal
import subprocess
import sys
import threading
import time

from drvf_tf.runs import run_folder, run_reader
from drvf_tf.sweep import attempt, states
from tests.sweep import fakes

_PARENT = """
import sys
from drvf_tf.sweep import attempt
from tests.sweep import fakes
import pathlib
out = pathlib.Path(sys.argv[1])
attempt.run(fakes.job(fakes.cell(out, 'wait'), out))
"""


def _attempt(out, do):
  return attempt.run(fakes.job(fakes.cell(out, do), out))


def test_endings_and_what_was_said(tmp_path):
  assert _attempt(tmp_path, 'finish') == (attempt.Ending.FINISHED, '')
  assert _attempt(tmp_path, 'refuse') == (
      attempt.Ending.REFUSED, 'This cannot be used: mend it.\n-a\n+b')
  assert _attempt(tmp_path, 'crash') == (
      attempt.Ending.CRASHED, 'exit code 1: RuntimeError: no luck')
  assert _attempt(tmp_path, 'crash_once') == (
      attempt.Ending.CRASHED, 'killed by SIGKILL')
  assert _attempt(tmp_path, 'crash_once').ending is attempt.Ending.FINISHED
  log = (tmp_path / 'task/crash_once/seed0/train.log').read_text()
  assert log.count('$ ') == 2  # both attempts
  record = states.read_record(tmp_path / 'task/crash_once/seed0')
  assert record['ended'] >= record['started']


def test_a_run_that_is_asked_to_stop_saves(tmp_path):
  cell = fakes.cell(tmp_path, 'wait')
  timer = threading.Thread(target=_stop_when_ready, args=(tmp_path, cell))
  timer.start()
  assert attempt.run(fakes.job(cell, tmp_path)) == (attempt.Ending.STOPPED, '')
  timer.join()
  assert (cell.run_dir / 'saved').exists()
  # What waited for room does not start any more.
  assert _attempt(tmp_path, 'finish').ending is attempt.Ending.STOPPED
  assert not (tmp_path / 'task/finish').exists()


def _stop_when_ready(out, cell):
  while not (cell.run_dir / 'ready').exists():
    time.sleep(0.02)
  (out / '.sweep.stop').touch()


def test_a_folder_in_use_is_waited_for_then_refused(tmp_path):
  cell = fakes.cell(tmp_path, 'finish')
  home = run_folder.RunFolder(cell.run_dir)
  outcome = attempt.run(fakes.job(cell, tmp_path), patience=0.1)
  assert outcome.ending is attempt.Ending.REFUSED
  assert 'Another process is training' in outcome.note
  assert not (cell.run_dir / 'train.log').exists()  # it was not even tried
  timer = threading.Timer(0.5, home.__exit__)
  timer.start()
  assert attempt.run(fakes.job(cell, tmp_path)).ending is (
      attempt.Ending.FINISHED)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
  (tmp_path / 'task').write_text('')
  outcome = _attempt(tmp_path, 'finish')
  assert outcome.ending is attempt.Ending.REFUSED
  assert '--out' in outcome.note


def test_a_run_dies_with_its_worker(tmp_path):
  root = str(fakes.FAKE_TRAIN.parents[2])
  worker = subprocess.Popen(
      [sys.executable, '-c', _PARENT, str(tmp_path)], cwd=root,
      env={**os.environ, 'PYTHONPATH': root})
  run_dir = fakes.cell(tmp_path, 'wait').run_dir
  while not (run_dir / 'ready').exists():
    time.sleep(0.02)
    assert worker.poll() is None
  assert run_reader.RunReader(run_dir).is_locked()
  worker.send_signal(signal.SIGKILL)
  worker.wait()
  until = time.monotonic() + 10
  while run_reader.RunReader(run_dir).is_locked() and time.monotonic() < until:
    time.sleep(0.02)
  assert not run_reader.RunReader(run_dir).is_locked()
  assert (run_dir / 'saved').exists()
