"""The SavedModel: signatures, assets, loading, numbers."""
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.policies import policy_loader, py_tf_eager_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.data import transforms
from drvf_tf.policies import checking, exporting, fallbacks, lite, loading
from tests.policies import conftest


@pytest.fixture(name='served', scope='module')
def _served(exported):
  model = tf.saved_model.load(str(exported))
  return model.signatures


def test_a_stranger_gets_the_agents_numbers(exported, agent, dataset):
  differences = checking.check(str(exported), agent, dataset)
  assert set(differences) == {
      *(f'serving_default/{n}' for n in ('action', 'q_mean', 'q_std', 'q_lcb')),
      *(f'q_stats/q_{n}' for n in ('mean', 'std', 'std_within', 'std_between',
                                   'lcb')), 'sample_action/action'}


def test_tflite_gives_the_agents_numbers(exported, agent, dataset, tmp_path):
  path = lite.write(str(exported), str(tmp_path / 'lite'))
  checking.check(str(path), agent, dataset)
  assert json.loads((tmp_path / 'lite' / 'export.json').read_text())['format']


def test_a_wrong_export_is_told(agent, dataset, monkeypatch):
  def other(model, inputs, python):
    del model, python
    answers = checking.live(agent, dataset, inputs)
    answers['q_stats/q_std'] = answers['q_stats/q_std'] + 1e-4
    return answers

  monkeypatch.setattr(checking, '_stranger', other)
  with pytest.raises(errors.UserError,
                     match='differs from the agent .* in q_stats/q_std'):
    checking.check('policy', agent, dataset)


def _answers(mean, std, alpha):
  return {'q_stats/q_mean': np.array(mean), 'q_stats/q_std': np.array(std),
          'q_stats/q_lcb': np.array(mean) - alpha * np.array(std)}


def test_differences_are_measured_by_what_was_rounded():
  # α·std is a part of q_lcb, though it may cancel the mean.
  alone = _answers([-2.0], [4.0], alpha=3.0)
  assert checking._scale('q_stats/q_mean', alone) == [6.0]
  assert checking._scale('q_stats/q_lcb', alone) == [14.0]
  # Where Q crosses 0, its terms are as large as elsewhere.
  rows = _answers([0.0, 39.0], [1.0, 1.0], alpha=1.0)
  np.testing.assert_array_equal(
      checking._scale('q_stats/q_mean', rows), [20.5, 40.0])
  # Small values are compared absolutely.
  small = _answers([0.01], [0.01], alpha=1.0)
  assert checking._scale('q_stats/q_std', small) == [1.0]


def _truncate(folder):
  path = folder / 'saved_model.pb'
  path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def _zero(folder):
  path = next((folder / 'variables').glob('variables.data*'))
  path.write_bytes(bytes(path.stat().st_size))


def _lose(folder):
  shutil.rmtree(folder / 'variables')


@pytest.mark.parametrize('damage', [_truncate, _zero, _lose])
def test_damage_is_one_sentence(exported, agent, dataset, tmp_path, damage):
  copy = tmp_path / 'copy'
  shutil.copytree(exported, copy)
  damage(copy)
  for use in (loading.load, loading.signatures):
    with pytest.raises(errors.UserError, match='damaged or not whole') as told:
      use(copy)
    assert '\n' not in str(told.value)
  with pytest.raises(errors.UserError, match='damaged or not whole.*again'):
    checking.check(str(copy), agent, dataset, num_rows=10)


def test_an_interpreter_without_tensorflow_is_told(exported, agent, dataset):
  with pytest.raises(errors.UserError, match='it needs TensorFlow'):
    checking.check(str(exported), agent, dataset, python='/bin/false')


@pytest.mark.parametrize('batch', [1, 7, 4096])
def test_serves_any_batch(served, batch):
  found = served['serving_default'](observation=tf.ones([batch, 3]))
  assert found['action'].shape == [batch, 2]
  assert {name: value.dtype for name, value in found.items()} == {
      'action': tf.float32, 'q_mean': tf.float32, 'q_std': tf.float32,
      'q_lcb': tf.float32, 'in_support': tf.bool}
  assert all(len(value) == batch for value in found.values())


@pytest.mark.parametrize('wrong, message', [
    (tf.ones([2, 4]), r'\[2,4\] is not compatible with expected shape \[\?,3'),
    (tf.ones([2, 1]), r'\[2,1\] is not compatible with expected shape \[\?,3'),
    (tf.ones([3]), r'\[3\] is not compatible with expected shape \[\?,3'),
    (tf.ones([2, 3], tf.float64), 'expected to be a float tensor'),
])
def test_wrong_inputs_are_tensorflows_own_errors(served, wrong, message):
  with pytest.raises(tf.errors.InvalidArgumentError, match=message):
    served['serving_default'](observation=wrong)


def test_gate_closes_on_about_one_in_a_hundred_rows(exported):
  report = loading.read_facts(str(exported))['support']
  assert report['rows'] == 'training rows: none were held out'
  assert report['gate_closed']['data_actions'] < 0.05
  assert report['gate_threshold'] == report['q_std_quantiles']['0.99']


def test_rows_that_were_held_out_are_used(agent, dataset, tmp_path):
  dataset = transforms.hold_out_episodes(dataset, fraction=0.2)
  report = exporting.export_policy(agent, str(tmp_path / 'policy'), dataset)
  assert report['support']['rows'].startswith('held out')
  assert report['support']['num_rows'] == dataset.held_out.size


def test_loads_in_tf_agents(exported, agent):
  for policy in (policy_loader.load(str(exported)),
                 py_tf_eager_policy.SavedModelPyTFEagerPolicy(
                     str(exported), load_specs_from_pbtxt=True)):
    step = policy.action(ts.restart(np.ones(3, np.float32)))
    assert step.action.shape == (2,)
    assert step.info['in_support'].dtype == bool
    assert policy.get_train_step() == int(agent.train_step_counter.numpy())


def test_loads_without_a_warning(exported, caplog):
  tf.saved_model.load(str(exported))
  assert not caplog.records


def test_assets_say_where_it_comes_from(exported, dataset):
  facts = loading.read_facts(str(exported))
  assert facts['format'] == exporting.FORMAT
  assert facts['dataset']['sha256'] == dataset.hash()
  assert facts['dataset']['normalised']
  assert facts['task'] == 'mine'
  assert 'tf-agents' in facts['versions']
  assert (exported / 'assets' / 'config.gin').read_text() == 'TASK = 1\n'


def test_a_later_format_is_named(exported, tmp_path):
  copy = tmp_path / 'later'
  shutil.copytree(exported, copy)
  facts = copy / 'assets' / 'export.json'
  facts.write_text(json.dumps(
      {**json.loads(facts.read_text()), 'format': 99,
       'versions': {'drvf_tf': '9.9'}}))
  with pytest.raises(errors.UserError,
                     match='format 99, written by drvf_tf 9.9.*upgrade'):
    loading.load(copy)


def test_a_folder_without_a_policy_is_named(tmp_path):
  with pytest.raises(errors.UserError, match='holds no exported policy'):
    loading.read_facts(tmp_path)
  with pytest.raises(errors.UserError, match='There is nothing at .*nowhere'):
    loading.load(tmp_path / 'nowhere')
  with pytest.raises(errors.UserError, match='no saved_model.pb'):
    loading.load(tmp_path)
  tf.saved_model.save(tf.Module(), str(tmp_path / 'other'))
  with pytest.raises(errors.UserError, match='not a TF-Agents policy'):
    loading.load(tmp_path / 'other')


def test_nothing_is_overwritten(exported, agent):
  with pytest.raises(errors.UserError, match='exists already'):
    exporting.export_policy(agent, str(exported))


def test_fallbacks_by_flag():
  dataset = conftest.make_dataset()
  assert fallbacks.parse('none', dataset) is None
  rows = fallbacks.parse('constant:0.5,-1', dataset)(tf.zeros([2, 3]))
  np.testing.assert_allclose(rows, [[0.5, -1]] * 2)
  for text, message in (('constant:0', 'constant:0,0'),
                        ('constant:a,b', 'names no fallback'),
                        ('zero', 'names no fallback'),
                        ('constant:0,2', 'out of the action bounds')):
    with pytest.raises(errors.UserError, match=message):
      fallbacks.parse(text, dataset)


@pytest.mark.parametrize('normalized', [False, True])
def test_behaviour_cloning_learns_the_datas_action_on_raw_rows(normalized):
  dataset = conftest.make_dataset(normalized=False)
  raw = dataset.observations
  wanted = np.tanh((raw[:, :2] - 5.0) / 3.0)
  dataset = dataset.replace(actions=wanted)
  if normalized:
    dataset = transforms.normalize_observations(dataset)
  cloned = fallbacks.BehaviourCloning(dataset, num_steps=400)
  error = np.abs(cloned(tf.constant(raw)) - wanted).mean()
  assert error < 0.05


def test_export_with_a_fallback_and_a_closed_gate(agent, dataset, tmp_path):
  report = exporting.export_policy(
      agent, str(tmp_path / 'policy'), dataset, gate_quantile=0.5,
      fallback=fallbacks.Constant([0.25, -0.25]))
  assert report['fallback'] == 'Constant'
  actions = loading.load(tmp_path / 'policy').act(
      dataset.observations * dataset.observation_std
      + dataset.observation_mean)
  replaced = (actions == [0.25, -0.25]).all(axis=1)
  assert 0.1 < replaced.mean() < 0.9
