"""Rollouts: their distribution, their ends, their rewards."""
import numpy as np
import tensorflow as tf

from drvf_tf.dynamics import dynamics_ensemble, rollouts, terminations
from drvf_tf.networks import noise
from tests.dynamics import toy

_SEED = tf.constant([1, 2], tf.int32)


def _fields(rows):
  """s, a, r, discount, s' of rows of the toy."""
  return np.split(np.asarray(rows), [2, 3, 4, 5], axis=1)


def _start(count):
  rng = np.random.default_rng(11)
  return rng.normal(scale=0.4, size=[count, 2]).astype(np.float32)


def _certain(change, reward=0.0, members=2):
  """A model that says the same everywhere, without noise."""
  model = dynamics_ensemble.DynamicsEnsemble(2, 1, members, 1, (4,))
  arrays = model.arrays()
  arrays['kernel_1'].assign(tf.zeros_like(arrays['kernel_1']))
  arrays['target_mean'].assign([*change, reward])
  arrays['target_std'].assign([1e-6] * 3)
  return model


def test_rows_follow_from_each_other():
  rolled = rollouts.Rollouts(_certain([1.0, -0.5], 2.0), toy.actor(), 3, 0.0,
                             terminations.never)(_start(4), _SEED)
  states, actions, rewards, discounts, following = _fields(rolled)
  np.testing.assert_allclose(following - states, [[1.0, -0.5]] * 12, atol=1e-4)
  np.testing.assert_array_equal(states[4:], following[:-4])
  np.testing.assert_allclose(rewards, 2.0, atol=1e-4)
  np.testing.assert_array_equal(discounts, 1.0)
  assert (abs(actions) < 1).all() and actions.std() > 0.01


def _ends_beyond(limit):
  return lambda observations: observations[:, 0] > limit


def test_nothing_follows_a_terminal_state():
  starts = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], np.float32)
  rolled = rollouts.Rollouts(_certain([1.0, 0.0]), toy.actor(), 3, 0.0,
                             _ends_beyond(2.5))(starts, _SEED)
  states, _, _, discounts, _ = _fields(rolled)
  # From 2 it ends at once, from 1 after two steps, from 0 after three.
  np.testing.assert_allclose(states[:, 0], [0, 1, 2, 1, 2, 2], atol=1e-3)
  np.testing.assert_array_equal(discounts[:, 0], [1, 1, 0, 1, 0, 0])


def test_terminations_see_observations_as_the_task_gives_them():
  # Normalised −1, 0 and 1 are 8, 10 and 12; 11.5 is beyond the limit.
  starts = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], np.float32)
  rolled = rollouts.Rollouts(
      _certain([0.0, 0.0]), toy.actor(), 1, 0.0, _ends_beyond(11.5),
      np.array([10.0, 0.0]), np.array([2.0, 1.0]))(starts, _SEED)
  np.testing.assert_array_equal(_fields(rolled)[3][:, 0], [1, 1, 0])


def test_the_penalty_is_in_the_data_s_own_units():
  model = _certain([0.0, 0.0], 1.0)
  model.low.assign(tf.zeros_like(model.low))  # log σ² is 0 + softplus(…)
  model.high.assign(tf.zeros_like(model.high))
  model.arrays()['target_std'].assign([1e-4, 2e-4, 0.0])
  std = model.predict(_start(1), tf.zeros([1, 1])).std[0, 0].numpy()
  without, with_it = (
      _fields(rollouts.Rollouts(
          model, toy.actor(), 1, penalty, terminations.never, np.zeros(2),
          np.array([3_000.0, 4_000.0]))(_start(1), _SEED))[2][0, 0]
      for penalty in (0.0, 10.0))
  expected = 10.0 * np.hypot(3_000 * std[0], 4_000 * std[1])
  np.testing.assert_allclose(without - with_it, expected, rtol=1e-5)


def test_rows_are_drawn_from_elites_and_from_all_of_them():
  mean = tf.reshape(tf.range(5.0), [5, 1, 1]) * tf.ones([5, 400, 2])
  found = rollouts.sample(
      dynamics_ensemble.Prediction(mean, tf.zeros_like(mean)),
      tf.constant([1, 4]), noise.Draws(_SEED)).numpy()
  np.testing.assert_array_equal(found[:, 0], found[:, 1])
  assert set(found[:, 0]) == {1.0, 4.0}
  assert 150 < (found[:, 0] == 1.0).sum() < 250


def test_the_same_seed_gives_the_same_rows():
  roll = rollouts.Rollouts(
      _certain([0.1, 0.0]), toy.actor(), 2, 0.0, terminations.never)
  np.testing.assert_array_equal(roll(_start(3), _SEED), roll(_start(3), _SEED))
  assert not np.array_equal(roll(_start(3), _SEED), roll(_start(3), _SEED + 1))
