"""A model of a linear-Gaussian MDP, against the truth."""
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.dynamics import (
  dynamics_ensemble,
  model_files,
  model_fit,
  rollouts,
  terminations,
)
from drvf_tf.losses import dynamics
from drvf_tf.networks import noise
from tests.dynamics import toy


@pytest.fixture(name='data', scope='module')
def _data():
  return toy.dataset()


@pytest.fixture(name='fitted', scope='module')
def _fitted(data):
  return toy.run(data)


def _points(count=500, seed=7):
  rng = np.random.default_rng(seed)
  states = rng.normal(scale=0.5, size=[count, 2]).astype(np.float32)
  return states, rng.uniform(-1, 1, size=[count, 1]).astype(np.float32)


def test_mean_and_std_are_the_truth(fitted):
  states, actions = _points()
  found = fitted.model.predict(states, actions)
  mean = np.concatenate([states @ (toy.A - np.eye(2)).T + actions @ toy.B.T,
                         (states @ toy.C)[:, None]], axis=1)
  # Within a fifth of the noise, and the noise within a tenth.
  error = np.sqrt(np.mean((found.mean - mean)**2, axis=(0, 1)))
  assert (error < 0.2 * toy.STD).all(), error / toy.STD
  std = np.sqrt(np.mean(np.square(found.std), axis=(0, 1)))
  np.testing.assert_allclose(std, toy.STD, rtol=0.1)


def test_the_penalty_grows_with_the_distance_to_the_data(fitted, data):
  states, actions = _points()
  scale = data.observations.std(axis=0)
  directions = states / np.linalg.norm(states, axis=1, keepdims=True)
  means = [float(tf.reduce_mean(dynamics.model_uncertainty(
      fitted.model.predict(directions * scale * distance, actions).std)))
           for distance in (1.0, 4.0, 8.0, 16.0)]
  assert means == sorted(means)
  assert means[-1] > 2 * means[0], means


def test_the_distribution_after_three_steps_is_the_truth(fitted):
  count, actor = 20_000, toy.actor()
  starts = np.random.default_rng(11).normal(
      scale=0.4, size=[count, 2]).astype(np.float32)
  rolled = rollouts.Rollouts(
      fitted.model, actor, 3, 0.0, terminations.never)(
          starts, tf.constant([1, 2]))
  assert rolled.shape == [3 * count, 7]
  last = rolled[-count:, -2:].numpy()
  rng, states = np.random.default_rng(5), starts
  for _ in range(3):
    actions, _ = noise.sample_actions(
        actor(tf.constant(states))[0],
        rng.normal(size=[count, 1]).astype(np.float32))
    states, _ = toy.step(states, actions.numpy(), rng)
    states = states.astype(np.float32)
  truth = states.std(axis=0)
  # A twentieth of the spread for the mean, of itself for the spread.
  assert (abs(last.mean(axis=0) - states.mean(axis=0)) < 0.05 * truth).all()
  np.testing.assert_allclose(last.std(axis=0), truth, rtol=0.05)
  np.testing.assert_allclose(
      np.corrcoef(last.T)[0, 1], np.corrcoef(states.T)[0, 1], atol=0.05)


def test_elites_are_the_best_members(fitted):
  order = np.argsort(fitted.facts['held_out_mse'])
  np.testing.assert_array_equal(fitted.model.elites, order[:2])
  assert fitted.facts['epochs'] == len(fitted.facts['history']) <= 4
  assert fitted.facts['steps'] == 600 * fitted.facts['epochs']


def _arrays(fitted):
  return {name: variable.numpy()
          for name, variable in fitted.model.arrays().items()}


def _assert_same(one, other):
  one, other = _arrays(one), _arrays(other)
  assert one.keys() == other.keys()
  for name, values in one.items():
    np.testing.assert_array_equal(values, other[name], name)


_SHORT = {'steps_per_epoch': 10, 'max_epochs': 3}


@pytest.fixture(name='short', scope='module')
def _short(data):
  return toy.run(data, toy.fit(**_SHORT))


def test_a_fit_that_was_stopped_ends_where_it_would_have(
    data, short, tmp_path, monkeypatch):
  epoch = model_fit._Fit.epoch

  def killed(self, bar):
    if self.state.epochs == 2:
      raise KeyboardInterrupt
    epoch(self, bar)

  with monkeypatch.context() as patch:
    patch.setattr(model_fit._Fit, 'epoch', killed)
    with pytest.raises(KeyboardInterrupt):
      toy.run(data, toy.fit(**_SHORT), tmp_path)
  taken_up = []
  monkeypatch.setattr(model_fit._Fit, 'epoch', lambda self, bar: (
      taken_up.append(self.state.epochs), epoch(self, bar)))
  resumed = toy.run(data, toy.fit(**_SHORT), tmp_path)
  assert taken_up == [2]
  _assert_same(short, resumed)
  assert resumed.facts['history'] == short.facts['history']
  toy.run(data, toy.fit(**{**_SHORT, 'max_epochs': 1}), tmp_path)
  assert taken_up == [2, 0]  # another fit starts anew


def test_every_member_keeps_its_own_best_epoch_and_bootstrap(data):
  fit = model_fit._Fit(data, toy.fit(**_SHORT).identity(data, 0))
  fit.start()
  first = [v.numpy() for v in fit._learned]
  fit._keep(np.array([True, True, True]))
  for variable in fit._learned:
    variable.assign_add(tf.ones_like(variable))
  fit._keep(np.array([False, True, False]))
  for best, old in zip(fit._best, first):
    np.testing.assert_array_equal(best[0], old[0])
    np.testing.assert_array_equal(best[1], old[1] + 1)
    np.testing.assert_array_equal(best[2], old[2])
  rows = fit._bootstrap.numpy()
  shares = [len(set(row)) / len(row) for row in rows]
  np.testing.assert_allclose(shares, [1 - np.exp(-1)] * 3, atol=0.02)
  assert not np.array_equal(rows[0], rows[1])


def test_it_ends_when_no_member_gains(data):
  # Nothing can gain: the fit ends after as many epochs as it has patience.
  fitted = toy.run(data, toy.fit(
      steps_per_epoch=1, max_epochs=9, patience=2, min_gain=1.0))
  assert fitted.facts['epochs'] == 2
  untrained = dynamics_ensemble.DynamicsEnsemble(
      2, 1, 3, 2, (32, 32), seed=4_000)
  for name in ('kernel_0', 'bias_2', 'low'):  # the best are the first weights
    np.testing.assert_array_equal(
        fitted.model.arrays()[name], untrained.arrays()[name])


def test_save_and_load(short, tmp_path):
  model_files.save(tmp_path, short)
  identity = short.facts['identity']
  loaded = model_files.load(tmp_path, identity)
  _assert_same(short, loaded)
  assert loaded.facts == short.facts
  assert model_files.load(tmp_path, {**identity, 'seed': 5}) is None
  assert model_files.load(tmp_path / 'nowhere') is None
  content = bytearray((tmp_path / 'model.npz').read_bytes())
  content[len(content) // 2] ^= 255
  (tmp_path / 'model.npz').write_bytes(content)
  with pytest.raises(errors.UserError, match='is damaged .* delete that'):
    model_files.load(tmp_path)


def test_a_model_is_found_in_runs_beside(short, tmp_path):
  identity = short.facts['identity']
  run = tmp_path / 'hopper+combo' / 'seed0'
  assert model_files.find(run, identity) is None
  for other in (tmp_path / 'hopper+mopo' / 'seed0',
                tmp_path / 'hopper+combo' / 'seed1'):
    model_files.save(other / 'dynamics', short)
    place, found = model_files.find(run, identity)
    assert place == other
    _assert_same(found, short)
    assert model_files.find(run, {**identity, 'seed': 5}) is None
    facts = json.loads((other / 'dynamics' / 'model.json').read_text())
    assert len(facts['sha256']) == 64
    # A damaged model of another run is none of ours.
    (other / 'dynamics' / 'model.npz').write_bytes(b'nothing')
    assert model_files.find(run, identity) is None
    shutil.rmtree(other)


@pytest.mark.parametrize('settings, match', [
    ({'num_elites': 4}, 'num_elites must be between 1 and num_members = 3'),
    ({'weight_decay': (0.0,)}, 'weight_decay must have 3 numbers'),
    ({'patience': 0}, 'must be at least 1')])
def test_bad_settings_are_named(settings, match):
  with pytest.raises(ValueError, match=match):
    toy.fit(**settings)
