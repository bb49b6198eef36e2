"""The three sources of OOD actions, and where their gradient stops."""
import numpy as np
import tensorflow as tf

from drvf_tf.losses import ood_actions
from drvf_tf.networks import actor_network, noise
from tests import fakes


def _draws():
  return noise.Draws.at_step(0, tf.constant(3, tf.int64))


def _batch():
  observations, actions, *_ = fakes.arrays()
  return tf.constant(observations), tf.constant(actions)


def test_policy_actions_are_the_policys_and_stop_the_gradient():
  observations, actions = _batch()
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,), seed=0)
  actor.create_variables()
  policy = lambda s: actor(s)[0]  # noqa: E731
  with tf.GradientTape() as tape:
    sampled = ood_actions.from_policy(
        policy, observations, actions, fakes.ACTION_SPEC, 5, _draws())
  assert sampled.shape == [5, 8, 2]
  gradients = tape.gradient(sampled, actor.trainable_variables)
  assert all(g is None for g in gradients)
  gaussian = policy(observations).input_distribution
  z = _draws().normal([5, 8, 2])
  np.testing.assert_allclose(
      sampled, np.tanh(gaussian.mean() + gaussian.stddev() * z), rtol=1e-5)


def test_uniform_actions_fill_the_bounds():
  observations, actions = _batch()
  sampled = ood_actions.uniform(
      None, observations, actions, fakes.ACTION_SPEC, 500, _draws()).numpy()
  assert sampled.shape == (500, 8, 2)
  assert -1 <= sampled.min() < -0.99 and 0.99 < sampled.max() < 1
  assert abs(sampled.mean()) < 0.03


def test_noisy_dataset_actions_stay_near_the_data_and_in_bounds():
  observations, actions = _batch()
  sampled = ood_actions.noisy_dataset(
      None, observations, actions, fakes.ACTION_SPEC, 400, _draws(),
      std=0.1).numpy()
  assert np.abs(sampled).max() <= 1
  inner = np.abs(actions.numpy()) < 0.5
  np.testing.assert_allclose(sampled.mean(axis=0)[inner],
                             actions.numpy()[inner], atol=0.03)
  np.testing.assert_allclose(sampled.std(axis=0)[inner], 0.1, atol=0.02)


def test_draws_depend_on_seed_step_and_order_alone():
  first = noise.Draws.at_step(1, tf.constant(5, tf.int64))
  again = noise.Draws.at_step(1, tf.constant(5, tf.int64))
  other_step = noise.Draws.at_step(1, tf.constant(6, tf.int64))
  other_seed = noise.Draws.at_step(2, tf.constant(5, tf.int64))
  values = first.normal([4, 2]).numpy()
  np.testing.assert_array_equal(values, again.normal([4, 2]))
  for other in (first, other_step, other_seed):
    assert not np.allclose(values, other.normal([4, 2]))


def test_log_probability_agrees_with_the_distribution():
  observations, _ = _batch()
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,), seed=0)
  distribution = actor(observations)[0]
  actions, log_pi = noise.sample_actions(
      distribution, 0.5 * _draws().normal([8, 2]))
  np.testing.assert_allclose(log_pi, distribution.log_prob(actions), rtol=1e-4,
                             atol=1e-4)
