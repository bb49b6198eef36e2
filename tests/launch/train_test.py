"""launch/train.py as a user runs it, and as a machine interrupts it."""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.train import tiny_run

_TRAIN = str(tiny_run.ROOT / 'launch' / 'train.py')


def _finish(process):
  output, _ = process.communicate(timeout=280)
  return output


def _sentence(*flags, **environment):
  result = subprocess.run(
      [sys.executable, _TRAIN, *flags], capture_output=True, text=True,
      check=False, env={**os.environ, **environment})
  assert result.returncode == 2, result.stderr
  assert 'Traceback' not in result.stderr
  errors = [line for line in result.stderr.splitlines()
            if line.startswith('error: ')]
  assert len(errors) == 1
  return errors[0]


def test_flags_that_make_no_sense_are_answered_at_once():
  started = time.monotonic()
  assert '--gin_file=gin/quickstart.gin' in _sentence()
  assert 'is not a flag' in _sentence('gin/quickstart.gin')
  assert time.monotonic() - started < 10


@pytest.mark.parametrize('overlay', ['cpu', 'bc_actor', 'cloned_start'])
def test_an_overlay_alone_is_one_sentence(overlay, tmp_path):
  sentence = _sentence(f'--gin_file=gin/{overlay}.gin', f'--run={tmp_path}/x')
  assert 'none of them is a task' in sentence
  assert not list(tmp_path.iterdir())


def test_a_typo_in_a_name_is_answered_at_once():
  assert 'did you mean hopper-medium' in _sentence('--task=hoper-medium')
  assert 'did you mean edac' in _sentence(
      '--task=hopper-medium', '--method=edca')
  assert '--method needs --task' in _sentence(
      '--method=edac', '--gin_file=gin/hopper_medium.gin')


def test_files_by_task_and_method(tmp_path):
  result = subprocess.run(
      [sys.executable, _TRAIN, '--task=hopper-medium-v2', '--method=edac',
       '--gin_file=gin/cpu.gin'], capture_output=True, text=True, check=False,
      cwd=tmp_path, env={**os.environ, 'HOME': str(tmp_path),
                         'D4RL_DATASET_DIR': str(tmp_path),
                         'http_proxy': 'http://127.0.0.1:9'})
  assert result.stdout.splitlines()[0] == (
      'gin files: gin/hopper_medium.gin, '
      'gin/baselines/edac/hopper_medium.gin, gin/cpu.gin')
  assert (tmp_path / 'runs' / 'hopper_medium+edac+cpu' / 'seed0').is_dir()


def test_an_error_on_the_way_is_one_sentence(tmp_path):
  sentence = _sentence(
      '--gin_file=gin/hopper_medium.gin', f'--run_dir={tmp_path / "run"}',
      HOME=str(tmp_path), D4RL_DATASET_DIR=str(tmp_path),
      http_proxy='http://127.0.0.1:9')
  assert 'hopper_medium-v2.hdf5 is not in' in sentence
  assert 'configurable' not in sentence


def _wait_for(path, process):
  while not path.exists() and process.poll() is None:
    time.sleep(0.02)
  assert process.poll() is None, process.communicate()[0]


def _last_checkpoint(run):
  return max((path.name for path in run.glob('checkpoints/step_*')), default='')


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize('number, code', [
    (signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143),
    (signal.SIGINT, 130)])
def test_five_interruptions_change_nothing(tmp_path, number, code):
  data = tiny_run.make_data(tmp_path)
  bindings = tiny_run.bindings(data, num_steps=2_000)
  whole, run = tmp_path / 'whole', tmp_path / 'run'
  undisturbed = tiny_run.start(tiny_run.command(whole, bindings))
  _finish(undisturbed)
  assert undisturbed.returncode == 0
  moments = random.Random(int(number))
  for _ in range(5):
    before = _last_checkpoint(run)
    process = tiny_run.start(tiny_run.command(run, bindings))
    while _last_checkpoint(run) == before:  # it resumes
      time.sleep(0.02)
      assert process.poll() is None, _finish(process)
    time.sleep(moments.uniform(0.0, 1.5))
    process.send_signal(number)
    output = _finish(process)
    assert process.returncode == code, output
    if code > 0:
      assert 'the same command resumes there' in output
  last = tiny_run.start(tiny_run.command(run, bindings))
  output = _finish(last)
  assert last.returncode == 0, output
  assert tiny_run.contents(run) == tiny_run.contents(whole)
  facts = json.loads((run / 'run.json').read_text())
  steps = [start['step'] for start in facts['starts']]
  assert len(set(steps)) == 6, steps


def _free_port():
  with socket.socket() as probe:
    probe.bind(('127.0.0.1', 0))
    return probe.getsockname()[1]


def _cluster(command, count=2):
  workers = [f'127.0.0.1:{_free_port()}' for _ in range(count)]
  return [tiny_run.start(command, TF_CONFIG=json.dumps({
      'cluster': {'worker': workers},
      'task': {'type': 'worker', 'index': index}})) for index in range(count)]


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_two_workers_agree_with_one_process(tmp_path):
  data = tiny_run.make_data(tmp_path)
  one = tiny_run.start(tiny_run.command(
      tmp_path / 'one', tiny_run.bindings(data)))
  _finish(one)
  strategy = ['train_eval.strategy=@multi_worker_strategy']
  two = _cluster(tiny_run.command(
      tmp_path / 'two', tiny_run.bindings(data, extra=strategy)))
  outputs = [_finish(process) for process in two]
  assert [process.returncode for process in (one, *two)] == [0, 0, 0], outputs
  names = (tmp_path / 'one/metrics.csv').read_text().splitlines()[0].split(',')
  # The participation ratio of a batch is not a mean over its rows.
  columns = [i for i, name in enumerate(names) if name != 'effective_members']
  first, second = (np.loadtxt(tmp_path / name / 'metrics.csv', delimiter=',',
                              skiprows=1)[:, columns]
                   for name in ('one', 'two'))
  np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_two_workers_stop_together_and_go_on(tmp_path):
  data = tiny_run.make_data(tmp_path)
  bindings = tiny_run.bindings(data, num_steps=400, extra=[
      'train_eval.strategy=@multi_worker_strategy'])
  command = tiny_run.command(tmp_path / 'run', bindings)
  pair = _cluster(command)
  _wait_for(tmp_path / 'run/checkpoints/step_000000020', pair[0])
  pair[1].send_signal(signal.SIGTERM)  # one is told, both stop
  outputs = [_finish(process) for process in pair]
  assert [p.returncode for p in pair] == [143, 143], outputs
  pair = _cluster(command)
  outputs = [_finish(process) for process in pair]
  assert [p.returncode for p in pair] == [0, 0], outputs
