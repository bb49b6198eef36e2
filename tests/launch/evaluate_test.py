"""launch/evaluate.py as a user runs it."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts

from drvf_tf.agents import build
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import configuration
from drvf_tf.train import saved_policy
from tests.train import tiny_run

_EVALUATE = str(tiny_run.ROOT / 'launch' / 'evaluate.py')


def _run(*flags):
  return subprocess.run([sys.executable, _EVALUATE, *flags], text=True,
                        capture_output=True, check=False, env=dict(os.environ))


@pytest.fixture(name='run', scope='module')
def _run_folder(tmp_path_factory):
  """What evaluation needs of a run folder: a policy and the task's name."""
  folder = tmp_path_factory.mktemp('run')
  data = tiny_run.make_data(folder)
  configuration.parse([tiny_run.GIN_FILE], tiny_run.bindings(data))
  from drvf_tf.data import loading
  agent = build.build_agent(
      ts.time_step_spec(tensor_spec.TensorSpec([4], tf.float32)),
      tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, 1.0),
      num_batches=10.0)
  policy_snapshot.save(agent, loading.load(), folder / 'policy', '', {})
  (folder / 'run.json').write_text('{"task": "maze2d-umaze-v1"}')
  return folder


def test_a_run_is_scored_with_an_interval(run):
  shown = _run(f'--run={run}', '--episodes=3', '--seed=1')
  assert shown.returncode == 0, shown.stderr
  assert 'normalised score' in shown.stdout and '95 %' in shown.stdout
  result = json.loads((run / 'evaluation.json').read_text())
  assert result['task'] == 'maze2d-umaze-v1'
  assert len(result['returns']) == result['episodes'] == 3
  low, high = result['score_ci95']
  assert low <= result['score'] <= high
  assert shown.stderr == ''


def test_an_interval_covers_the_mean():
  values = np.random.RandomState(0).normal(5.0, 2.0, size=400)
  low, high = saved_policy.confidence_interval(values, seed=0)
  width = 2 * 1.96 * 2.0 / np.sqrt(400)
  assert low < values.mean() < high
  assert high - low == pytest.approx(width, rel=0.15)


@pytest.mark.parametrize('flags, sentence', [
    ([], 'Name either --run or --policy'),
    (['--run=/dev/null/none'], 'has no run.json'),
    (['--policy=/dev/null/none'], 'There is nothing at /dev/null/none'),
    (['--run=x', '--video=x.mp4'], 'must end in .gif'),
])
def test_errors_are_sentences(flags, sentence):
  result = _run(*flags)
  assert result.returncode == 2
  assert sentence in result.stderr and 'Traceback' not in result.stderr


def test_an_unfinished_run_says_so(tmp_path):
  (tmp_path / 'run.json').write_text('{"task": "maze2d-umaze-v1"}')
  result = _run(f'--run={tmp_path}')
  assert result.returncode == 2 and 'not finished' in result.stderr


def test_a_damaged_policy_is_a_sentence(run, tmp_path):
  copy = tmp_path / 'policy'
  shutil.copytree(run / 'policy', copy)
  shutil.rmtree(copy / 'variables')
  evaluated = _run(f'--policy={copy}', '--task=maze2d-umaze-v1')
  collected = subprocess.run(
      [sys.executable, str(tiny_run.ROOT / 'launch' / 'collect.py'),
       '--task=maze2d-umaze-v1', f'--policy={copy}', '--num_steps=5',
       f'--out={tmp_path / "x.hdf5"}'],
      text=True, capture_output=True, check=False)
  for result in (evaluated, collected):
    assert result.returncode == 2, result.stderr
    assert 'damaged or not whole' in result.stderr
    assert 'Traceback' not in result.stderr


def test_a_policy_without_a_task_is_told(run):
  result = _run(f'--policy={run / "policy"}')
  assert result.returncode == 2
  assert 'name the task with --task' in result.stderr


def test_a_task_that_d4rl_does_not_have_is_one_line(run):
  result = _run(f'--policy={run / "policy"}', '--task=corridor')
  assert result.returncode == 2
  (line,) = result.stderr.splitlines()
  assert line.startswith("error: 'corridor' is not a D4RL task")
