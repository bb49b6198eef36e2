"""From a table of logs to an exported policy; no task of D4RL is loaded."""
import json
import os
import subprocess
import sys

import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.envs import d4rl_tasks
from drvf_tf.policies import exporting
from drvf_tf.runs import configuration, finished, restoring
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


def write_table(path, episodes=20, length=15):
  """Shuffled logs of a point that is pushed along a line, to a CSV file."""
  rng = np.random.default_rng(0)
  lines = []
  for episode in range(episodes):
    place = rng.normal()
    for step in range(length):
      push = np.clip(-place + rng.normal(), -2, 2)
      lines.append(f'run{episode},{step},{place},{place**2},{push},'
                   f'{-abs(place)},{int(episode % 2 and step == length - 1)}')
      place += 0.1 * push
  rng.shuffle(lines)
  path.write_text('trip,t,where,energy,push,gain,crashed\n'
                  + '\n'.join(lines) + '\n')


@pytest.fixture(name='logs', scope='module')
def _logs(tmp_path_factory):
  folder = tmp_path_factory.mktemp('logs')
  write_table(folder / 'logs.csv')
  done = subprocess.run(
      [sys.executable, str(tiny_run.ROOT / 'launch' / 'convert.py'),
       f'--table={folder / "logs.csv"}', f'--out={folder / "logs.npz"}',
       '--episode=trip', '--step=t', '--observations=where,energy',
       '--actions=push', '--reward=gain', '--terminal=crashed',
       '--action_low=-2', '--action_high=2'],
      text=True, capture_output=True, check=False, env=dict(os.environ))
  assert done.returncode == 0, done.stderr
  assert '300 rows. Training leaves out 10 of them' in done.stdout
  assert '10 terminal, 10 timed out' in done.stdout
  return folder / 'logs.npz'


def _forbid(name):
  raise AssertionError(f'the task {name} was loaded')


def _train(folder, logs, monkeypatch, files=(), extra=()):
  monkeypatch.setattr(d4rl_tasks, 'make', _forbid)
  monkeypatch.setattr(d4rl_tasks, 'spec', _forbid)
  gin.clear_config()
  configuration.parse([_GIN_FILE, *files], [
      f"loading.load.source='{logs}'", *_BINDINGS, *extra])
  return train_eval.train_eval(str(folder))


def test_from_the_file_to_an_exported_policy(
    logs, tmp_path, monkeypatch, capsys):
  summary = _train(tmp_path / 'run', logs, monkeypatch)
  shown = capsys.readouterr().out
  assert shown.index('290 in 20 episodes') < shown.index('TD loss')
  assert 'bounds from the file' in shown
  assert 'value at first states, lower bound' in shown
  assert {'value', 'value_lcb', 'td_error', 'action_error'} <= set(summary)
  rows = [json.loads(line) for line in (
      tmp_path / 'run' / 'evaluations.jsonl').read_text().splitlines()]
  assert [(row['step'], row['final']) for row in rows] == [
      (20, False), (40, False), (40, True)]
  assert rows[-1]['value_lcb'] < rows[-1]['value']
  assert (tmp_path / 'run' / 'curve.png').stat().st_size > 10_000
  # No best checkpoint: data do not tell. But some are kept to choose from.
  assert {path.name for path in (tmp_path / 'run' / 'checkpoints').iterdir()
          } == {'step_000000020', 'step_000000040'}
  run = restoring.restore(str(tmp_path / 'run'), '20')
  assert 'in 20 episodes' not in capsys.readouterr().out  # the card, again
  report = exporting.export_policy(
      run.agent, str(tmp_path / 'policy'), run.dataset)
  assert report['support']['rows'].startswith('held out')
  serve = tf.saved_model.load(str(tmp_path / 'policy')).signatures[
      'serving_default']
  action = serve(observation=tf.constant([[0.5, 0.25]]))['action'].numpy()
  assert action.shape == (1, 1) and abs(action[0, 0]) <= 2
  with pytest.raises(finished.Unusable, match='on data alone'):
    finished.read(tmp_path / 'run')


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
