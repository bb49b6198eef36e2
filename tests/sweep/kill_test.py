"""A real sweep on Ray, killed at every level, against undisturbed runs."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from drvf_tf.sweep import cells, plan, states
from tests.train import tiny_run

_SWEEP = str(tiny_run.ROOT / 'launch' / 'sweep.py')


def _processes():
  """Parent and command line of every process."""
  found = {}
  for folder in pathlib.Path('/proc').glob('[0-9]*'):
    try:
      # The name, in parentheses, may hold anything.
      status, parent = (folder / 'stat').read_text().rpartition(
          ')')[2].split()[:2]
      command = (folder / 'cmdline').read_bytes().split(b'\0')
    except OSError:
      continue
    if status != 'Z':
      found[int(folder.name)] = (int(parent), command)
  return found


def _trainings(out):
  """(process, its parent) of every training in a sweep's folder."""
  return [(number, parent) for number, (parent, command)
          in _processes().items()
          if any(part.startswith(f'--run={out}'.encode())
                 for part in command)
          and not any(b'die_with_parent' in part for part in command)]


def _descendants(ancestor):
  known = _processes()
  found, front = set(), {ancestor}
  while front:
    found |= front
    front = {number for number, (parent, _) in known.items()
             if parent in front} - found
  return found


def _saved(out):
  """Checkpoints seen in a folder, by their names and runs."""
  return set(out.glob('*/*/*/checkpoints/step_*'))


def _wait(condition, sweep=None, seconds=600):
  until = time.monotonic() + seconds
  while not condition():
    time.sleep(0.1)
    assert time.monotonic() < until
    assert sweep is None or sweep.poll() is None, sweep.communicate()[0]


@contextlib.contextmanager
def _started(flags):
  # A session of its own, as a terminal would give it.
  sweep = subprocess.Popen(
      [sys.executable, _SWEEP, *flags], text=True, stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT, start_new_session=True)
  try:
    yield sweep
  finally:
    sweep.kill()  # with all it started, as the test shows


def _goes_on(out, sweep):
  """Waits until the runs have saved something new."""
  before = _saved(out)
  _wait(lambda: _saved(out) - before, sweep)


def killed_everywhere(flags, out):
  """Kills a training, a Ray worker and the sweep; then lets it finish.

  Args:
    flags: Of launch/sweep.py, four runs, two at a time.
    out: Their folder.

  Returns:
    What the last sweep printed.
  """
  with _started(flags) as sweep:
    _goes_on(out, sweep)
    refused = subprocess.run([sys.executable, _SWEEP, *flags], text=True,
                             capture_output=True, check=False)
    assert refused.returncode == 2
    assert 'Another sweep is running' in refused.stderr
    os.kill(_trainings(out)[0][0], signal.SIGKILL)
    _goes_on(out, sweep)
    worker = _trainings(out)[-1][1]
    assert worker in _descendants(sweep.pid)
    os.kill(worker, signal.SIGKILL)
    _goes_on(out, sweep)
    family = _descendants(sweep.pid)
    assert set(dict(_trainings(out))) & family
    sweep.kill()
    said, _ = sweep.communicate()
    assert 'killed by SIGKILL; attempt 2 of 4' in said
    assert 'WorkerCrashedError' in said
    _wait(lambda: not family & set(_processes()))
    assert not _trainings(out)

  with _started(flags) as sweep:
    _goes_on(out, sweep)
    family = _descendants(sweep.pid)
    os.killpg(sweep.pid, signal.SIGINT)  # Ctrl-C reaches the whole group
    said, _ = sweep.communicate(timeout=300)
    assert sweep.returncode == 130, said
    assert 'Stopped and saved; to resume:' in said
    _wait(lambda: not family & set(_processes()))

  with _started(flags) as sweep:
    said, _ = sweep.communicate(timeout=1_200)
    assert sweep.returncode == 0, said
  return said


def undisturbed(todo, out):
  """Runs the commands of cells by themselves, in other folders."""
  for cell in todo:
    folder = out / cell.run_dir.name / cell.method
    command = [*cell.command[:-1], f'--run={folder}']
    subprocess.run(command, check=True, capture_output=True)
    assert tiny_run.contents(cell.run_dir) == tiny_run.contents(folder)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_nothing_changes_a_result(tmp_path):
  pytest.importorskip('ray')
  data, out = tiny_run.make_data(tmp_path), tmp_path / 'out'
  overlay = tmp_path / 'no_repulsion.gin'
  overlay.write_text('DRVFAgent.eta_ood = 0.0\n')
  bindings = tiny_run.bindings(data, num_steps=1_000)
  flags = [f'--task={tiny_run.GIN_FILE}', '--method=drvf=',
           f'--method=plain={overlay}', '--seeds=0,1', f'--out={out}',
           *(f'--gin_param={binding}' for binding in bindings)]
  said = killed_everywhere(flags, out)
  assert '4 runs: 4 finished' in said
  todo = cells.product(plan.read(
      None, tasks=[tiny_run.GIN_FILE], seeds=[0, 1], bindings=bindings,
      methods={'drvf': [], 'plain': [str(overlay)]}), out, 1)
  assert all(map(states.is_finished, todo))
  undisturbed(todo, tmp_path / 'alone')
