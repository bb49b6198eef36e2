"""The loop as a whole, on a run of seconds."""
import json
import os
import shutil
import signal
import subprocess
import time

import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import configuration, cost_record
from drvf_tf.train import progress, train_eval, trainer
from tests.train import tiny_run


@pytest.fixture(name='data', scope='module')
def _data(tmp_path_factory):
  return tiny_run.make_data(tmp_path_factory.mktemp('data'))


def _run(folder, data, num_steps=40, extra=()):
  gin.clear_config()
  configuration.parse([tiny_run.GIN_FILE],
                      tiny_run.bindings(data, num_steps, extra))
  return train_eval.train_eval(str(folder))


@pytest.fixture(name='whole', scope='module')
def _whole(data, tmp_path_factory):
  """An undisturbed run."""
  folder = tmp_path_factory.mktemp('whole')
  _run(folder, data)
  return folder


def test_a_run_folder_holds_everything(whole):
  rows = [json.loads(line) for line in
          (whole / 'evaluations.jsonl').read_text().splitlines()]
  assert [(row['step'], row['final'], len(row['returns'])) for row in rows] == [
      (20, False, 2), (40, False, 2), (40, True, 3)]
  steps = [line.split(',')[0] for line in
           (whole / 'metrics.csv').read_text().splitlines()]
  assert steps == ['step', '10', '20', '30', '40']
  facts = json.loads((whole / 'run.json').read_text())
  assert facts['task'] == 'maze2d-umaze-v1' and facts['seed'] == 0
  assert facts['method'] == 'DRVF'
  assert len(facts['dataset_hash']) == 64
  assert facts['summary']['final_episodes'] == 3
  cost = facts['cost']
  assert cost['steps'] == 40 and cost['cpu_seconds'] > 0 < cost['seconds']
  assert 'DRVFAgent.num_samples = 2' in (whole / 'config.gin').read_text()
  assert (whole / 'policy' / 'saved_model.pb').is_file()
  assert (whole / 'curve.png').stat().st_size > 10_000
  assert list((whole / 'tensorboard').iterdir())
  assert {path.name for path in (whole / 'checkpoints').iterdir()} == {
      'step_000000020', 'step_000000040', 'best'}


def test_parameters_are_counted(whole):
  facts = json.loads((whole / 'run.json').read_text())
  # Two members and their targets: a layer, its LayerNorm, a Bayesian head.
  critics = 4 * (6 * 16 + 16 + 2 * 16 + 2 * (16 + 1))
  actors = 2 * (4 * 16 + 16 + 16 * 4 + 4)  # it, and its average
  assert cost_record.read(facts).parameters == critics + actors


@pytest.fixture(name='brief')
def _brief(monkeypatch):
  """Without pictures and exports, which take longer than the tiny run."""
  monkeypatch.setattr(progress, 'draw_curves', lambda *_: None)
  monkeypatch.setattr(policy_snapshot, 'save', lambda *_: None)


def test_a_finished_run_is_not_run_again_but_drawn(whole, data, capsys):
  before = tiny_run.contents(whole)
  (whole / 'curve.png').unlink()
  assert _run(whole, data)['final_episodes'] == 3
  assert 'is a finished run' in capsys.readouterr().out
  assert tiny_run.contents(whole) == before
  assert (whole / 'curve.png').stat().st_size > 10_000


@pytest.mark.usefixtures('brief')
def test_operative_config_reproduces_the_run(whole, tmp_path):
  gin.clear_config()
  configuration.parse([str(whole / 'config.gin')], [])
  train_eval.train_eval(str(tmp_path))
  assert tiny_run.contents(tmp_path) == tiny_run.contents(whole)
  assert (tmp_path / 'config.gin').read_text() == (
      whole / 'config.gin').read_text()


@pytest.mark.usefixtures('brief')
def test_a_signal_saves_and_the_run_resumes_exactly(
    whole, data, tmp_path, monkeypatch):
  calls = []
  train = trainer.Trainer.__call__

  def interrupted(self):
    calls.append(1)
    if len(calls) == 5:  # between rows, an evaluation under way
      os.kill(os.getpid(), signal.SIGTERM)
    return train(self)

  monkeypatch.setattr(trainer.Trainer, '__call__', interrupted)
  with pytest.raises(errors.Interrupted, match='saved at step 25') as error:
    _run(tmp_path, data)
  assert error.value.exit_code == 143
  _run(tmp_path, data)
  assert len(calls) == 8
  assert tiny_run.contents(tmp_path) == tiny_run.contents(whole)
  _check_cost(tmp_path, [25, 15])


def _check_cost(folder, steps):
  """Every start has noted its own part, and the parts add up."""
  facts = json.loads((folder / 'run.json').read_text())
  assert [start['steps'] for start in facts['starts']] == steps
  assert facts['cost']['steps'] == sum(steps)
  seconds = sum(start['seconds'] for start in facts['starts'])
  assert 0 < facts['cost']['seconds'] < seconds
  assert cost_record.read(facts).minutes == pytest.approx(seconds / 60)


@pytest.mark.usefixtures('brief')
def test_a_damaged_last_checkpoint_is_passed_over(
    whole, data, tmp_path, capfd):
  run = tmp_path / 'run'
  shutil.copytree(whole, run)
  _unfinish(run)
  last = run / 'checkpoints' / 'step_000000040'
  _flip(last / 'ckpt.data-00000-of-00001')
  _run(run, data)
  said = capfd.readouterr().err
  assert f'The checkpoint {last} is damaged' in said
  assert 'the run resumes from step 20.' in said
  assert tiny_run.contents(run) == tiny_run.contents(whole)
  assert (run / 'checkpoints' / 'damaged_step_000000040').is_dir()


def test_where_no_checkpoint_is_whole_the_run_stops(whole, data, tmp_path):
  run = tmp_path / 'run'
  shutil.copytree(whole, run)
  _unfinish(run)
  for path in (run / 'checkpoints').glob('step_*/ckpt.index'):
    _flip(path)
  with pytest.raises(errors.UserError, match='No checkpoint .* is whole'):
    _run(run, data)


def _unfinish(run):
  """As a kill after the last step leaves it."""
  facts = json.loads((run / 'run.json').read_text())
  del facts['finished'], facts['summary']
  (run / 'run.json').write_text(json.dumps(facts))


def _flip(path):
  """Other bytes in the middle; a file of its own, for links share theirs."""
  content = bytearray(path.read_bytes())
  middle = len(content) // 2
  content[middle:middle + 8] = bytes(
      255 - byte for byte in content[middle:middle + 8])
  path.write_bytes(content)


def test_a_folder_with_somebodys_documents_is_left_alone(data, tmp_path):
  (tmp_path / 'thesis.txt').write_text('mine')
  with pytest.raises(errors.UserError, match='holds no run, but something'):
    _run(tmp_path, data)
  assert [path.name for path in tmp_path.iterdir()] == ['thesis.txt']


@pytest.mark.usefixtures('brief')
def test_a_kill_changes_nothing(whole, data, tmp_path):
  run = tmp_path / 'run'
  process = tiny_run.start(tiny_run.command(run, tiny_run.bindings(data, 40)))
  while not (run / 'checkpoints' / 'step_000000020').exists():
    assert process.poll() is None, process.communicate()[0]
    time.sleep(0.01)
  process.kill()
  process.communicate()
  _run(run, data)
  assert tiny_run.contents(run) == tiny_run.contents(whole)
  facts = json.loads((run / 'run.json').read_text())
  assert [start['step'] for start in facts['starts']][0] == 0
  assert len(facts['starts']) == 2


@pytest.mark.usefixtures('brief')
def test_a_finished_run_is_extended_exactly(whole, data, tmp_path):
  _run(tmp_path, data, num_steps=20)
  final = [json.loads(line) for line in
           (tmp_path / 'evaluations.jsonl').read_text().splitlines()][-1]
  assert final['final'] and final['step'] == 20
  _run(tmp_path, data, num_steps=40)
  assert tiny_run.contents(tmp_path) == tiny_run.contents(whole)
  assert (tmp_path / 'config.gin').read_text() == (
      whole / 'config.gin').read_text()
  _check_cost(tmp_path, [20, 20])
  with pytest.raises(errors.UserError, match='trained for 40 steps, more'):
    _run(tmp_path, data, num_steps=30)


def test_another_configuration_is_refused(whole, data):
  before = tiny_run.contents(whole)
  with pytest.raises(errors.UserError) as error:
    _run(whole, data, extra=['DRVFAgent.eta_q=3.0'])
  assert '-DRVFAgent.eta_q = 10.0\n+DRVFAgent.eta_q = 3.0' in str(error.value)
  assert tiny_run.contents(whole) == before


def test_divergence_stops_and_keeps_the_last_good_checkpoint(
    data, tmp_path, monkeypatch):
  calls = []
  train = trainer.Trainer.__call__

  def diverging(self):
    calls.append(1)
    if len(calls) > 6:
      raise errors.DivergedError('a loss became NaN or infinite')
    return train(self)

  monkeypatch.setattr(trainer.Trainer, '__call__', diverging)
  with pytest.raises(errors.UserError, match='Training diverged'):
    _run(tmp_path, data)
  assert [path.name for path in sorted(
      (tmp_path / 'checkpoints').glob('step_*'))] == ['step_000000020']


def test_nan_in_the_graph_is_divergence(data, tmp_path):
  with pytest.raises(errors.UserError, match='Training diverged'):
    _run(tmp_path, data, extra=['build_agent.critic_learning_rate=1e30'])
  assert not list((tmp_path / 'checkpoints').glob('step_*'))


@pytest.mark.parametrize('binding, sentence', [
    ('train_eval.num_steps=42', 'num_steps must be a positive multiple'),
    ('Evaluation.interval=7', 'interval must be a positive multiple'),
    ('Evaluation.num_episodes=0', 'must be at least 1'),
    ("configure_runtime.precision='float8'", 'precision must be one of'),
    ('DRVFAgent.num_samples=0', 'num_samples must be at least 1'),
    ("TASK='hopper-medium-v2'", 'observations of size 4'),
])
def test_what_cannot_be_built_is_one_sentence(data, tmp_path, binding,
                                              sentence):
  with pytest.raises(errors.UserError) as error:
    _run(tmp_path, data, extra=[binding])
  assert sentence in str(error.value)


@pytest.mark.usefixtures('brief')
def test_mirrored_replicas_agree_with_one_device(whole, data, tmp_path):
  _run(tmp_path, data, extra=['train_eval.strategy=@mirrored_strategy'])
  assert len(tf.config.list_logical_devices('CPU')) == 2
  one, two = (np.loadtxt(folder / 'metrics.csv', delimiter=',', skiprows=1)
              for folder in (whole, tmp_path))
  names = (whole / 'metrics.csv').read_text().splitlines()[0].split(',')
  # The participation ratio of a batch is not a mean over its rows.
  columns = [i for i, name in enumerate(names) if name != 'effective_members']
  np.testing.assert_allclose(one[:, columns], two[:, columns], rtol=1e-3,
                             atol=1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures('brief')
def test_xla_trains_and_resumes_exactly(data, tmp_path, monkeypatch):
  settings = ['Trainer.jit_compile=True', 'EnsembleCriticNetwork.stacked=False']
  summary = _run(tmp_path / 'whole', data, extra=settings)
  assert np.isfinite(summary['td_loss'])
  train = trainer.Trainer.__call__

  def interrupted(self):
    os.kill(os.getpid(), signal.SIGTERM)
    return train(self)

  with monkeypatch.context() as patch:
    patch.setattr(trainer.Trainer, '__call__', interrupted)
    with pytest.raises(errors.Interrupted):
      _run(tmp_path / 'two', data, extra=settings)
  _run(tmp_path / 'two', data, extra=settings)
  assert tiny_run.contents(tmp_path / 'two') == tiny_run.contents(
      tmp_path / 'whole')


@pytest.mark.slow
def test_a_minimum_of_members_has_a_slope_under_fast_math(data, tmp_path):
  command = tiny_run.command(tmp_path / 'run', tiny_run.bindings(
      data, num_steps=20, extra=['EnsembleCriticNetwork.layer_norm=True',
                                 'EnsembleCriticNetwork.hidden_units=(16, 16)',
                                 'EnsembleCriticNetwork.num_members=3']))
  result = subprocess.run(
      [*command, '--gin_file=gin/baselines/sac_n.gin',
       '--gin_file=gin/xla.gin'],
      capture_output=True, text=True, check=False)  # XLA hears its flags once
  assert result.returncode == 0, result.stderr
