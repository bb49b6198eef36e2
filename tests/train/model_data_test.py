"""The loop with a dynamics model: one more source of batches, exactly."""
import json
import shutil
import time

import gin
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.dynamics import model_fit, page
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import configuration
from drvf_tf.train import progress, train_eval, trainer
from tests.train import tiny_run

# Rounds start at steps 0, 15 and 30, checkpoints are written at 20 and 40: in
# the middle of a round.
_TINY = ['ModelBatches.rollout_batch=20', 'ModelBatches.interval=15',
         'ModelBatches.rounds=2', 'ModelBatches.rollout_length=2',
         'ModelFit.num_members=2', 'ModelFit.num_elites=1',
         'ModelFit.hidden_units=(8,)', 'ModelFit.weight_decay=(0.0, 0.0)',
         'ModelFit.steps_per_epoch=5', 'ModelFit.max_epochs=1',
         'ModelFit.batch_size=8']


@pytest.fixture(name='data', scope='module')
def _data(tmp_path_factory):
  return tiny_run.make_data(tmp_path_factory.mktemp('data'))


def _bindings(data, extra=()):
  return tiny_run.bindings(data, 40, [*_TINY, *extra])


def _run(folder, data, method='mopo', extra=()):
  gin.clear_config()
  configuration.parse(
      [tiny_run.GIN_FILE, f'gin/baselines/{method}.gin'],
      _bindings(data, extra))
  return train_eval.train_eval(str(folder))


@pytest.fixture(name='brief', autouse=True, scope='module')
def _brief():
  """Without pictures and exports, which take longer than the tiny run."""
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(progress, 'draw_curves', lambda *_: None)
    patch.setattr(policy_snapshot, 'save', lambda *_: None)
    yield


@pytest.fixture(name='whole', scope='module')
def _whole(data, tmp_path_factory):
  """An undisturbed run."""
  folder = tmp_path_factory.mktemp('whole') / 'run'
  _run(folder, data)
  return folder


def test_the_run_folder_has_the_model_and_what_it_cost(whole):
  facts = json.loads((whole / 'run.json').read_text())
  assert facts['method'] == 'MOPO'
  assert facts['dynamics']['steps'] == 5 and facts['dynamics']['seconds'] > 0
  assert sorted(path.name for path in (whole / 'dynamics').iterdir()) == [
      'model.json', 'model.npz']
  config = (whole / 'config.gin').read_text()
  assert 'train_eval.batches = @ModelBatches' in config
  assert 'ModelFit.max_epochs = 1' in config


def test_the_report_of_the_model(whole, tmp_path):
  numbers = page.make(str(whole))
  assert numbers['task'] == 'maze2d-umaze-v1' and numbers['steps'] == 5
  assert len(numbers['rmse']) == len(numbers['coverage']['0.9']) == 5
  assert len(numbers['growth']['median']) == 25
  assert 'reward' in page.table(numbers)
  paths = page.write(numbers, tmp_path / 'new')
  assert json.loads(paths[0].read_text()) == numbers
  assert all(path.stat().st_size > 10_000 for path in paths[1:])


def test_a_run_without_a_model_is_named(whole, tmp_path):
  for name in ('run.json', 'config.gin'):
    shutil.copy(whole / name, tmp_path)
  with pytest.raises(errors.UserError, match='which has no dynamics model'):
    page.make(str(tmp_path))


def test_a_kill_in_the_middle_of_a_round_changes_nothing(
    whole, data, tmp_path, monkeypatch):
  calls, train = [], trainer.Trainer.__call__

  def killed(self):
    calls.append(1)
    if len(calls) == 6:  # after step 25, ten steps into a round
      raise MemoryError
    return train(self)

  monkeypatch.setattr(trainer.Trainer, '__call__', killed)
  with pytest.raises(MemoryError):
    _run(tmp_path, data)
  monkeypatch.setattr(model_fit.ModelFit, 'run', None)  # not a second time
  _run(tmp_path, data)
  assert len(calls) == 6 + 4
  assert tiny_run.contents(tmp_path) == tiny_run.contents(whole)


@pytest.mark.slow
def test_sigkill_in_the_middle_of_a_round_changes_nothing(
    whole, data, tmp_path):
  run = tmp_path / 'run'
  command = tiny_run.command(run, _bindings(data))
  command.insert(3, '--gin_file=gin/baselines/mopo.gin')
  process = tiny_run.start(command)
  while not (run / 'checkpoints' / 'step_000000020').exists():
    assert process.poll() is None, process.communicate()[0]
    time.sleep(0.01)
  process.kill()
  process.communicate()
  _run(run, data)
  assert tiny_run.contents(run) == tiny_run.contents(whole)


@pytest.mark.slow
def test_rewards_less_the_penalty_are_what_is_learned(whole, data, tmp_path):
  _run(tmp_path, data, extra=['ModelBatches.penalty=1000.0'])
  q, penalised = (
      np.genfromtxt(folder / 'metrics.csv', delimiter=',', names=True)
      ['target_mean'][-1] for folder in (whole, tmp_path))
  assert penalised < q - 100


@pytest.mark.parametrize('method', [
    'combo', pytest.param('drvf_model', marks=pytest.mark.slow)])
def test_the_others_train_on_the_same_source(method, data, tmp_path):
  summary = _run(tmp_path, data, method)
  assert np.isfinite(summary['td_loss'])


@pytest.mark.slow
def test_mirrored_replicas_agree_with_one_device(data, tmp_path):
  for name, strategy in (('one', 'default'), ('two', 'mirrored')):
    _run(tmp_path / name, data, 'combo',
         [f'train_eval.strategy=@{strategy}_strategy'])
  one, two = (np.genfromtxt(tmp_path / name / 'metrics.csv', delimiter=',',
                            names=True) for name in ('one', 'two'))
  for name in one.dtype.names:
    if name != 'effective_members':  # of a batch, not a mean over rows
      np.testing.assert_allclose(one[name], two[name], rtol=1e-3, atol=1e-4,
                                 err_msg=name)


def test_rounds_begin_where_calls_of_the_graph_do(data, tmp_path):
  with pytest.raises(errors.UserError, match='interval of the batches must be'):
    _run(tmp_path, data, extra=['ModelBatches.interval=7'])
