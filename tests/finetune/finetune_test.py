"""Fine-tuning as a whole: an offline run of seconds goes on in its task."""
import json
import shutil
import sys
import time

import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.finetune import collected_rows, configuring
from drvf_tf.losses import backups
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import configuration
from drvf_tf.train import progress, train_eval, trainer
from tests.train import tiny_run

# Rows are collected at steps 40, 50, 60 and 70, checkpoints are written at 60
# and 80: in the middle of an episode, which has 300 steps.
_TINY = ['ONLINE_STEPS=40', 'OnlineBatches.interval=10',
         'OnlineBatches.collect_steps=120', 'train_eval.log_interval=10',
         'train_eval.checkpoint_interval=20', 'Evaluation.interval=20',
         'Evaluation.num_episodes=2', 'posterior.num_actions=4',
         'optimistic.num_actions=4']


@pytest.fixture(name='brief', autouse=True, scope='module')
def _brief():
  """Without pictures and exports, which take longer than the tiny run."""
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(progress, 'draw_curves', lambda *_: None)
    patch.setattr(policy_snapshot, 'save', lambda *_: None)
    yield


def _train(folder, method=None, extra=()):
  data = tiny_run.make_data(folder.parent)
  gin.clear_config()
  overlay = [f'gin/baselines/{method}.gin'] if method else []
  configuration.parse([tiny_run.GIN_FILE, *overlay],
                      tiny_run.bindings(data, 40, extra))
  train_eval.train_eval(str(folder))
  return folder


@pytest.fixture(name='offline', scope='module')
def _offline(tmp_path_factory):
  return _train(tmp_path_factory.mktemp('offline') / 'run')


def _finetune(run, out, extra=()):
  folder = configuring.configure(str(run), str(out), (), [*_TINY, *extra])
  return train_eval.train_eval(str(folder))


@pytest.fixture(name='whole', scope='module')
def _whole(offline, tmp_path_factory):
  """An undisturbed fine-tuning."""
  folder = tmp_path_factory.mktemp('whole') / 'run'
  _finetune(offline, folder)
  return folder


def _facts(folder):
  return json.loads((folder / 'run.json').read_text())


def _rows(folder):
  return collected_rows.read(
      folder / 'collected.f32', _facts(folder)['layout'])


def test_it_is_a_run_like_every_other(whole, offline):
  rows = [json.loads(line) for line in
          (whole / 'evaluations.jsonl').read_text().splitlines()]
  assert [(row['step'], row['final']) for row in rows] == [
      (40, False), (60, False), (80, False), (80, True)]
  steps = [line.split(',')[0] for line in
           (whole / 'metrics.csv').read_text().splitlines()]
  assert steps == ['step', '50', '60', '70', '80']
  facts = _facts(whole)
  assert facts['offline']['run'] == str(offline)
  assert facts['offline']['step'] == 40
  assert facts['offline']['score'] == _facts(offline)['summary']['final_score']
  assert facts['method'] == 'DRVF, then posterior'
  assert facts['cost']['steps'] == 40


def test_the_first_evaluation_is_of_the_offline_policy(whole, offline):
  """Greedy, with the same seeds: the same episodes to the last digit."""
  first, other = (
      json.loads((folder / 'evaluations.jsonl').read_text().splitlines()[i])
      for folder, i in ((whole, 0), (offline, 1)))
  assert (first['step'], other['step']) == (40, 40)
  assert first['returns'] == other['returns']


def test_rows_are_what_was_done_in_the_task(whole):
  rows = _rows(whole)
  assert len(rows['rewards']) == 4 * 120
  # 300 steps are an episode of maze2d-umaze: no row spans two.
  assert np.flatnonzero(rows['episode_ends']).tolist() == [299]
  np.testing.assert_array_equal(
      rows['observations'][1:300], rows['next_observations'][:299])
  np.testing.assert_array_equal(
      rows['observations'][301:], rows['next_observations'][300:-1])
  assert not np.array_equal(
      rows['observations'][300], rows['next_observations'][299])
  assert (rows['discounts'] == 1).all()  # a timeout is no terminal
  assert (np.abs(rows['actions']) <= 1).all()
  assert (rows['q_std'] > 0).all()


def test_a_kill_in_the_middle_of_an_episode_changes_nothing(
    whole, offline, tmp_path, monkeypatch):
  calls, train = [], trainer.Trainer.__call__

  def killed(self):
    calls.append(1)
    if len(calls) == 6:  # after step 65; 240 rows are the checkpoint's
      raise MemoryError
    return train(self)

  monkeypatch.setattr(trainer.Trainer, '__call__', killed)
  with pytest.raises(MemoryError):
    _finetune(offline, tmp_path)
  assert len(_rows(tmp_path)['rewards']) == 360
  _finetune(offline, tmp_path)
  assert len(calls) == 6 + 4
  _check_same(tmp_path, whole)


def _check_same(folder, whole):
  """Rows, weights and records, to the last bit."""
  assert tiny_run.contents(folder) == tiny_run.contents(whole)
  assert (folder / 'collected.f32').read_bytes() == (
      whole / 'collected.f32').read_bytes()


@pytest.mark.slow
def test_sigkill_changes_nothing(whole, offline, tmp_path):
  run = tmp_path / 'run'
  process = tiny_run.start(
      [sys.executable, str(tiny_run.ROOT / 'launch' / 'finetune.py'),
       f'--run={offline}', f'--out={run}',
       *(f'--gin_param={binding}' for binding in _TINY)])
  while not (run / 'checkpoints' / 'step_000000060').exists():
    assert process.poll() is None, process.communicate()[0]
    time.sleep(0.01)
  process.kill()
  process.communicate()
  _finetune(offline, run)
  _check_same(run, whole)


@pytest.mark.slow
def test_rows_that_are_gone_are_missed(whole, offline, tmp_path):
  run = tmp_path / 'run'
  shutil.copytree(whole, run)
  content = (run / 'collected.f32').read_bytes()
  (run / 'collected.f32').write_bytes(content[:100])
  with pytest.raises(errors.UserError, match='does not hold the 480 rows'):
    _finetune(offline, run, ['ONLINE_STEPS=60'])


@pytest.mark.slow
def test_it_is_extended_exactly(whole, offline, tmp_path):
  _finetune(offline, tmp_path, ['ONLINE_STEPS=20'])
  _finetune(offline, tmp_path)
  _check_same(tmp_path, whole)


@pytest.mark.slow
def test_weights_and_moments_go_on(offline, tmp_path, monkeypatch):
  """Before its first step the agent is the offline run's, Adam and all."""
  def stop(self):
    del self
    raise MemoryError

  kept = {}
  prepare = train_eval._prepare

  def look(stack, home, parts, *rest):
    keeper = prepare(stack, home, parts, *rest)
    path = tmp_path / 'look'
    tf.train.Checkpoint(agent=parts.agent, step=parts.step).write(str(path))
    kept.update(tiny_run._values(path))
    return keeper

  monkeypatch.setattr(train_eval, '_prepare', look)
  monkeypatch.setattr(trainer.Trainer, '__call__', stop)
  with pytest.raises(MemoryError):
    _finetune(offline, tmp_path / 'run')
  saved = tiny_run._values(offline / 'checkpoints' / 'step_000000040' / 'ckpt')
  assert kept == saved
  assert any('_critic_optimizer' in name and '.OPTIMIZER_SLOT' in name
             for name in kept)


@pytest.mark.slow
@pytest.mark.parametrize('method', [
    'sac_n', 'edac', 'pbrl', 'msg', 'uwac', 'atac'])
def test_the_whole_family_can(method, tmp_path):
  bindings = ['BehaviourVae.hidden_units=(8,)']
  if method == 'atac':
    bindings.append('START=20')  # before it the temperature's rate is 0
  run = _train(tmp_path / 'run', method, bindings)
  summary = _finetune(run, tmp_path / 'online', [
      'ONLINE_STEPS=10', 'OnlineBatches.policy=@optimistic',
      'OnlineBatches.fallback=@greedy'])
  assert np.isfinite(summary['td_loss'])


@pytest.mark.slow
@pytest.mark.parametrize('method, policy', [
    ('iql', 'actor_samples'), ('td3_bc', 'noisy'), ('cql', 'actor_samples')])
def test_methods_without_an_ensemble_can(method, policy, tmp_path):
  run = _train(tmp_path / 'run', method,
               ['baseline_actor.hidden_units=(8,)',
                'baseline_critic.hidden_units=(8,)'])
  with pytest.raises(errors.UserError, match='has no ensemble critic'):
    _finetune(run, tmp_path / 'refused')
  _finetune(run, tmp_path / 'online', [
      'ONLINE_STEPS=10', f'OnlineBatches.policy=@{policy}'])
  assert 'q_std' not in _rows(tmp_path / 'online')


@pytest.mark.slow
@pytest.mark.parametrize('method, sentence', [
    ('bc', 'BcAgent only clones'),
    ('rebrac', 'asks for the action that follows each row')])
def test_methods_that_cannot_say_why(method, sentence, tmp_path):
  run = _train(tmp_path / 'run', method,
               ['baseline_actor.hidden_units=(8,)',
                'baseline_critic.hidden_units=(8,)', 'LARGE_BATCH=16'])
  with pytest.raises(errors.UserError, match=sentence):
    _finetune(run, tmp_path / 'online')


def test_a_run_of_another_task(offline, whole, tmp_path):
  with pytest.raises(errors.UserError, match=(
      'is a run of maze2d-umaze-v1, not of maze2d-large-v1')):
    _finetune(offline, tmp_path / 'new', ["D4rlTask.name='maze2d-large-v1'"])
  other = tmp_path / 'other'
  shutil.copytree(offline, other)
  with pytest.raises(errors.UserError, match='is the fine-tuning of .*not of'):
    _finetune(other, whole)


def test_a_finished_fine_tuning(offline, whole):
  with pytest.raises(errors.UserError, match=(
      'is a finished fine-tuning of 40 online steps')):
    _finetune(offline, whole)
  with pytest.raises(errors.UserError, match='is a fine-tuning itself'):
    _finetune(whole, whole.parent / 'again')
  with pytest.raises(errors.UserError, match='holds a run that is no fine-tun'):
    _finetune(offline, offline)


def test_no_task(offline, tmp_path):
  run = tmp_path / 'run'
  shutil.copytree(offline, run)
  (run / 'run.json').write_text(json.dumps(
      {**_facts(run), 'task': 'own data'}))
  config = (offline / 'config.gin').read_text()
  (run / 'config.gin').write_text(config.replace('@D4rlTask', '@OwnData'))
  with pytest.raises(errors.UserError, match=(
      r'no task to collect in: OwnData \(own data\) has no environment')):
    _finetune(run, tmp_path / 'online')


@pytest.mark.slow
def test_a_rate_that_is_0_by_now(offline, tmp_path):
  with pytest.raises(errors.UserError, match=(
      "run's actor and critic is 0 from step .*critic_learning_rate=3e-5")):
    _finetune(offline, tmp_path / 'run', [
        'build_agent.actor_learning_rate=@SettlingRate()',
        'build_agent.critic_learning_rate=@SettlingRate()',
        'SettlingRate.first=1e-3', 'SettlingRate.then=1e-3',
        'SettlingRate.boundary=1', 'SettlingRate.decay_steps=10'])


@pytest.mark.slow
def test_rates_are_the_new_ones(offline, tmp_path, monkeypatch):
  rates = []

  def stop(self):
    rates.append(float(self._agent._actor_optimizer.learning_rate))
    raise MemoryError

  monkeypatch.setattr(trainer.Trainer, '__call__', stop)
  with pytest.raises(MemoryError):
    _finetune(offline, tmp_path / 'run',
              ['build_agent.actor_learning_rate=0.5'])
  assert rates == [0.5]


@pytest.mark.slow
def test_another_network_is_refused(offline, tmp_path):
  with pytest.raises(errors.UserError, match='is of another agent than'):
    _finetune(offline, tmp_path / 'run',
              ['tanh_gaussian_actor.hidden_units=(8,)'])


@pytest.mark.slow
def test_pessimism_fades_from_where_the_run_has_it(offline, tmp_path):
  """Quickstart's α are 1 and 20; half of them half way, then none."""
  folder = configuring.configure(
      str(offline), str(tmp_path / 'run'), ['gin/fading_pessimism.gin'],
      [*_TINY, 'ONLINE_STEPS=10', 'FADING_STEPS=100'])
  for scope, alpha in (('target', 1.0), ('actor', 20.0)):
    with gin.config_scope(scope):
      fading = backups.FadingLcb()
    found = [float(fading.alpha(tf.constant(step, tf.int64)))
             for step in (40, 90, 140, 1_000)]
    assert found == [alpha, alpha / 2, 0.0, 0.0]
  train_eval.train_eval(str(folder))
  config = (folder / 'config.gin').read_text()
  assert 'EnsembleSacAgent.actor_value = @actor/FadingLcb()' in config


@pytest.mark.slow
def test_pessimism_that_has_faded_fades_on(offline, tmp_path):
  """A run whose α fell from 10 to 0.5 goes on from 0.5."""
  run = tmp_path / 'faded'
  shutil.copytree(offline, run)
  with (run / 'config.gin').open('a') as config:
    config.write('\n'.join([
        'DRVFAgent.backup = @target/FadingLcb()',
        *(f'{scope}/FadingLcb.{name} = {value}'
          for scope in ('target', 'actor') for name, value in (
              ('first', 10.0), ('then', 0.5), ('start', 10), ('length', 20))),
        '']))
  configuring.configure(
      str(run), str(tmp_path / 'run'), ['gin/fading_pessimism.gin'],
      [*_TINY, 'FADING_STEPS=100'])
  with gin.config_scope('actor'):
    fading = backups.FadingLcb()
  found = [float(fading.alpha(tf.constant(step, tf.int64)))
           for step in (40, 90, 140)]
  assert found == [0.5, 0.25, 0.0]
