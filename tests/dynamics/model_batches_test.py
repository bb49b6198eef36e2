"""Batches of data and of a model: shares, rounds, what a kill leaves."""
import types

import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.agents import agent_parts
from drvf_tf.data import sampling
from drvf_tf.dynamics import model_batches, model_files, model_fit
from tests.dynamics import toy

_FIT = {'steps_per_epoch': 10, 'max_epochs': 1}


@pytest.fixture(name='data', scope='module')
def _data():
  return toy.dataset(rows=500)


@pytest.fixture(name='home', scope='module')
def _home(data, tmp_path_factory):
  """A run folder that has the model."""
  folder = tmp_path_factory.mktemp('run')
  model_files.save(folder / 'dynamics', toy.run(data, toy.fit(**_FIT)))
  return folder


def _agent(seed=3):
  return types.SimpleNamespace(actor_network=toy.actor(seed))


def _source(data, **settings):
  return model_batches.ModelBatches(
      data, batch_size=20, seed=0, **{
          'fit': lambda: toy.fit(**_FIT), 'real_share': 0.25,
          'rollout_length': 2, 'rollout_batch': 30, 'interval': 10,
          'rounds': 2, **settings})


def _begun(data, home, **settings):
  source, agent = _source(data, **settings), _agent()
  source.begin(agent, home, chief=True)
  return source, agent


def _flat(source, step):
  return np.concatenate(
      [np.reshape(part, [20, -1]) for part in tf.nest.flatten(
          source(tf.constant(step, tf.int64)))], axis=1)


def test_a_share_of_the_rows_is_the_data_s(data, home):
  source, _ = _begun(data, home)
  source.refresh(0)
  step = tf.constant(3, tf.int64)
  batch = source(step)
  rows = sampling.TransitionSampler(data, 5, 0)(step)
  np.testing.assert_array_equal(
      batch.time_step.observation[:5], rows.time_step.observation)
  np.testing.assert_array_equal(
      batch.next_time_step.reward[:5], rows.next_time_step.reward)
  known = {tuple(row) for row in data.actions}
  assert not any(tuple(row) in known
                 for row in batch.action_step.action[5:].numpy())
  # A mean over the batch with these weights is one over the data's rows.
  weights = agent_parts.data_weights(batch)
  np.testing.assert_array_equal(weights, [4.0] * 5 + [0.0] * 15)
  assert agent_parts.data_weights(rows) is None


def test_rounds_replace_the_oldest(data, home):
  source, agent = _begun(data, home)
  steps, rows = [], []
  for step in (0, 5, 10, 20):
    agent.actor_network.variables[-1].assign_add([1.0, 0.0])  # another policy
    source.refresh(step)
    steps.append(source._policies.steps())
    rows.append(source._buffer._rows.numpy().reshape(2, 60, -1))
  assert steps == [[0, -1], [0, -1], [0, 10], [20, 10]]
  np.testing.assert_array_equal(rows[0], rows[1])  # no round was due
  np.testing.assert_array_equal(rows[2][0], rows[1][0])
  np.testing.assert_array_equal(rows[3][1], rows[2][1])
  assert not np.array_equal(rows[3][0], rows[2][0])


def test_rollouts_are_of_the_policy_of_their_step(data, home):
  source, agent = _begun(data, home)
  bias = agent.actor_network.variables[-1]  # of the mean and the std
  for step, mean in ((0, 9.0), (10, -9.0)):
    bias.assign([mean, -9.0])
    source.refresh(step)
  actions = source._buffer._rows.numpy().reshape(2, 60, -1)[..., 2]
  np.testing.assert_allclose(actions[0], 1.0, atol=1e-3)
  np.testing.assert_allclose(actions[1], -1.0, atol=1e-3)


def test_a_run_that_was_killed_makes_the_same_rows_again(
    data, home, tmp_path):
  source, agent = _begun(data, home)
  for step in (0, 10, 20, 25):
    agent.actor_network.variables[-1].assign_add([0.5, 0.1])
    source.refresh(step)
  path = tf.train.Checkpoint(**source.state()).write(str(tmp_path / 'c'))
  resumed, other = _begun(data, home)
  other.actor_network.variables[-1].assign([9.0, 9.0])  # not what rolls out
  tf.train.Checkpoint(**resumed.state()).read(path).assert_consumed()
  resumed.refresh(25)
  for step in (25, 26):
    np.testing.assert_array_equal(_flat(source, step), _flat(resumed, step))
  assert not np.array_equal(_flat(source, 25), _flat(source, 26))
  saved = tf.train.load_checkpoint(path).get_variable_to_shape_map()
  # Weights of two policies, not rows: 4·8 + 8 and 8·2 + 2 would be one.
  assert max(np.prod(shape) for shape in saved.values()) <= 2 * 2 * 8


def test_rows_of_all_slots_are_drawn_and_no_others():
  buffer = model_batches._Buffer(rounds=3, capacity=4, width=1)
  buffer.append(0, tf.constant([[1.0], [2.0]]))
  buffer.append(2, tf.constant([[5.0]]))
  buffer.append(2, tf.constant([[6.0], [7.0]]))
  drawn = buffer.draw(2_000, tf.constant([0, 1]))[:, 0].numpy()
  values, counts = np.unique(drawn, return_counts=True)
  np.testing.assert_array_equal(values, [1.0, 2.0, 5.0, 6.0, 7.0])
  np.testing.assert_allclose(counts, 400, atol=80)
  buffer.empty(2)
  assert set(buffer.draw(50, tf.constant([0, 1]))[:, 0].numpy()) == {1.0, 2.0}


def test_the_model_of_a_run_beside_is_used_and_kept(
    data, home, monkeypatch, capfd):
  monkeypatch.setattr(model_fit.ModelFit, 'run', None)  # no fit is needed
  run = home.parent / 'beside'
  source, _ = _begun(data, run)
  assert f'The dynamics model of {home} is of the same' in (
      capfd.readouterr().err)
  assert (run / 'dynamics' / 'model.npz').read_bytes()
  assert source.facts()['dynamics']['epochs'] == 1
  _begun(data, run)
  assert not capfd.readouterr().err


@pytest.mark.parametrize('settings, match', [
    ({'real_share': 1.5}, 'real_share must be between 0 and 1'),
    ({'rollout_length': 0}, 'must be at least 1'),
    ({'penalty': -1.0}, 'penalty must not be negative')])
def test_bad_settings_are_named(data, settings, match):
  with pytest.raises(ValueError, match=match):
    _source(data, **settings)
