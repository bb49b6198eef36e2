"""From a table of logs to an exported policy, without a simulator.

The logs are generated maze2d data under other names, in no order; what is made
of them happens in processes that import neither d4rl nor mujoco.
"""
import json
import os
import subprocess
import sys

import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import embedded, files, loading
from drvf_tf.envs import d4rl_tasks
from drvf_tf.runs import configuration, finished
from drvf_tf.train import tasks, train_eval
from tests.train import tiny_run

_GIN_FILE = 'gin/own_data.gin'
_BINDINGS = ['train_eval.num_steps=40', 'train_eval.batch_size=16',
             'train_eval.log_interval=10', 'train_eval.checkpoint_interval=10',
             'train_eval.keep_every=20', 'train_eval.keep_checkpoints=1',
             'train_eval.steps_per_call=5', 'DataEvaluation.interval=20',
             'EnsembleCriticNetwork.hidden_units=(16,)',
             'EnsembleCriticNetwork.num_members=2',
             'tanh_gaussian_actor.hidden_units=(16,)',
             'baseline_actor.hidden_units=(16,)',
             'DRVFAgent.num_samples=2', 'DRVFAgent.num_ood_actions=2']
_QUICK = ['FittedQEvaluation.num_steps=20', 'FittedQEvaluation.num_members=3',
          'FittedQEvaluation.hidden_units=(8,)', 'Behaviour.num_steps=20',
          'OfflineEvaluation.bootstrap_samples=50']


# Says at its end which modules of a simulator the process has imported.
_TELLING = """
import atexit, sys
from drvf_tf import cli
packages = ('d4rl', 'mujoco', 'mujoco_py', 'dm_control')
atexit.register(lambda: print('simulators:', sorted(
    name for name in sys.modules if name.split('.')[0] in packages)))
cli.main()
"""
# From the logs to a policy in one process: what the commands do in five.
_ALL = """
import pathlib, sys
from drvf_tf.ope import estimates, run_estimates
from drvf_tf.policies import exporting
from drvf_tf.report import model_card
from drvf_tf.runs import configuration, restoring
from drvf_tf.train import train_eval
folder, *bindings = sys.argv[1:]
configuration.parse(['gin/own_data.gin'], bindings)
train_eval.train_eval(folder)
run = restoring.restore(folder, '20', bindings)
print(estimates.table([estimates.Estimate(**one) for one in
                       run_estimates.evaluate(run, folder)['estimates']], 0.99))
policy = folder + '/exported'
report = exporting.export_policy(run.agent, policy, run.dataset)
print('measured on', report['support']['rows'])
model_card.write(run, folder, report, pathlib.Path(policy))
"""


def _run(*words):
  done = subprocess.run(
      [sys.executable, *map(str, words)], text=True, capture_output=True,
      check=False, cwd=tiny_run.ROOT, env={
          **os.environ, 'PYTHONPATH': str(tiny_run.ROOT),
          'CUDA_VISIBLE_DEVICES': '', 'TF_NUM_INTRAOP_THREADS': '1',
          'TF_NUM_INTEROP_THREADS': '1'})
  assert done.returncode == 0, done.stderr
  return done.stdout


def _drvf(*words):
  """What a command prints, which has imported no simulator."""
  shown = _run('-c', _TELLING, *words)
  assert shown.splitlines()[-1] == 'simulators: []'
  return shown


def write_table(path, rows=1_200):
  """Generated maze2d data as somebody's logs: own names, rows in no order."""
  gin.bind_parameter('generated_maze2d.num_steps', rows)
  arrays = files.read(embedded.generated_file())
  gin.clear_config()
  ends = np.flatnonzero(arrays['timeouts'])
  lines, step = [], 0
  for row in range(rows):
    numbers = [*arrays['observations'][row], *arrays['actions'][row],
               arrays['rewards'][row]]
    lines.append(f'walk{np.searchsorted(ends, row)},{step},'
                 + ','.join(f'{number:.7g}' for number in numbers))
    step = 0 if arrays['timeouts'][row] else step + 1
  np.random.default_rng(0).shuffle(lines)
  path.write_text('walk,t,x,y,speed_x,speed_y,push_x,push_y,there\n'
                  + '\n'.join(lines) + '\n')
  return arrays


@pytest.fixture(name='logs', scope='module')
def _logs(tmp_path_factory):
  folder = tmp_path_factory.mktemp('logs')
  with pytest.MonkeyPatch.context() as patch:
    patch.setenv('D4RL_DATASET_DIR', str(folder))
    arrays = write_table(folder / 'logs.csv')
  shown = _drvf(
      'convert', f'--table={folder / "logs.csv"}',
      f'--out={folder / "logs.npz"}', '--episode=walk', '--step=t',
      '--observations=x,y,speed_*', '--actions=push_*', '--reward=there',
      '--terminal=', '--action_low=-1,-1', '--action_high=1,1')
  # One row each is left out, of which nobody saw what followed, and with it
  # episodes that have no other.
  ends = np.union1d(np.flatnonzero(arrays['timeouts']), [1_199])
  longer = np.sum(np.diff(ends, prepend=-1) > 1)
  assert f'1,200 rows. Training leaves out {len(ends)} of them' in shown
  assert f'0 terminal, {longer} timed out' in shown and longer >= 10
  return folder / 'logs.npz'


def _same_rows(one, other):
  """Rows of two arrays, in no order."""
  one, other = (rows[np.lexsort(rows.T)] for rows in (one, other))
  np.testing.assert_allclose(one, other, atol=1e-5)


def test_shuffled_logs_are_the_data_that_they_were_exported_from(logs):
  recorded = files.read(next(logs.parent.glob('maze2d-*.hdf5')))
  converted = files.read(logs)
  for name in ('observations', 'actions'):
    _same_rows(converted[name], recorded[name])
  dataset = loading.read(str(logs), action_bounds=None)
  # Steps of one episode follow each other: a maze is walked in small steps.
  moved = np.linalg.norm(dataset.next_observations[:, :2]
                         - dataset.observations[:, :2], axis=1)
  assert moved.max() < 0.2
  assert dataset.rewards.sum() > 0


def _forbid(name):
  raise AssertionError(f'the task {name} was loaded')


def _bound(logs, *extra):
  return [f"loading.load.source='{logs}'", *_BINDINGS, *extra]


def _train(folder, logs, monkeypatch, gin_files=(), extra=()):
  monkeypatch.setattr(d4rl_tasks, 'make', _forbid)
  monkeypatch.setattr(d4rl_tasks, 'spec', _forbid)
  gin.clear_config()
  configuration.parse([_GIN_FILE, *gin_files], _bound(logs, *extra))
  return train_eval.train_eval(str(folder))


def _check_run(folder, shown):
  assert shown.index('bounds from the file') < shown.index('TD loss')
  assert 'value at first states, lower bound' in shown
  rows = [json.loads(line) for line in (
      folder / 'evaluations.jsonl').read_text().splitlines()]
  assert [(row['step'], row['final']) for row in rows] == [
      (20, False), (40, False), (40, True)]
  assert rows[-1]['value_lcb'] < rows[-1]['value']
  assert rows[-1]['td_error'] > 0 and rows[-1]['action_error'] > 0
  assert (folder / 'curve.png').stat().st_size > 10_000
  # No best checkpoint: data do not tell. But some are kept to choose from.
  assert {path.name for path in (folder / 'checkpoints').iterdir()
          } == {'step_000000020', 'step_000000040'}


def _check_policy(folder):
  serve = tf.saved_model.load(str(folder)).signatures['serving_default']
  answer = serve(observation=tf.constant([[1.0, 1.0, 0.0, 0.0]]))
  assert answer['action'].shape == (1, 2)
  assert np.abs(answer['action']).max() <= 1
  assert answer['q_std'][0] > 0


def test_from_the_file_to_an_exported_policy(logs, tmp_path):
  program = _TELLING.replace('cli.main()', _ALL)
  shown = _run('-c', program, tmp_path, *_bound(logs, *_QUICK))
  assert shown.splitlines()[-1] == 'simulators: []'
  _check_run(tmp_path, shown)
  assert 'fitted Q evaluation' in shown and 'weighted doubly robust' in shown
  assert 'measured on held out' in shown
  _check_policy(tmp_path / 'exported')
  assert (tmp_path / 'exported' / 'model_card.html').stat().st_size > 20_000
  with pytest.raises(finished.Unusable, match='on data alone'):
    finished.read(tmp_path)


@pytest.mark.slow
def test_the_commands_from_the_file_to_a_selected_policy(logs, tmp_path):
  run, quick = tmp_path / 'run', [f'--gin_param={one}' for one in _QUICK]
  shown = _drvf('train', f'--gin_file={_GIN_FILE}', f'--run={run}',
                *(f'--gin_param={one}' for one in _bound(logs)))
  _check_run(run, shown)
  shown = _drvf('evaluate', f'--run={run}', '--offline', *quick)
  assert 'fitted Q evaluation' in shown
  shown = _drvf('select', run, f'--out={tmp_path / "selection"}', *quick)
  assert 'FQE, low end       takes' in shown and 'regret' not in shown
  shown = _drvf('export', f'--run={run}', f'--out={tmp_path / "policy"}',
                '--check')
  assert 'Checked: 1,000 rows' in shown
  _check_policy(tmp_path / 'policy')
  card = (tmp_path / 'policy' / 'model_card.html').read_text()
  assert 'fitted Q evaluation' in card and 'Unattended use' in card


@pytest.mark.slow
def test_a_method_without_values_is_followed_too(logs, tmp_path, monkeypatch):
  summary = _train(tmp_path / 'run', logs, monkeypatch,
                   ['gin/baselines/bc.gin'])
  assert 0 < summary['action_error'] < 2 and 'value' not in summary


@pytest.mark.slow
def test_a_run_that_resumes_is_the_same(logs, tmp_path, monkeypatch):
  _train(tmp_path / 'whole', logs, monkeypatch)
  _train(tmp_path / 'parts', logs, monkeypatch,
         extra=['train_eval.num_steps=20'])
  _train(tmp_path / 'parts', logs, monkeypatch)
  whole, parts = ((tmp_path / name / 'evaluations.jsonl').read_text()
                  for name in ('whole', 'parts'))
  assert whole == parts


def test_there_is_nothing_to_play():
  with pytest.raises(errors.UserError, match='no simulator'):
    tasks.OwnData().episode(None, 0)


def test_kept_checkpoints_fall_on_checkpoints(logs, tmp_path, monkeypatch):
  with pytest.raises(errors.UserError, match='multiple of checkpoint_interval'):
    _train(tmp_path / 'run', logs, monkeypatch,
           extra=['train_eval.keep_every=15'])
