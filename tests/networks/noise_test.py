"""Draws: new in every call and in every step, the same when asked again."""
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.distributions import utils as distribution_utils
from tf_agents.specs import tensor_spec

from drvf_tf.networks import noise


def _drawn(seed, step, count=6):
  draws = noise.Draws.at_step(seed, tf.constant(step, tf.int64))
  return [draws.normal([4, 2]).numpy() for _ in range(count)]


def test_no_draw_comes_twice_in_ten_steps():
  seen = np.concatenate([np.ravel(_drawn(0, step)) for step in range(10)])
  assert len(np.unique(seen)) == len(seen)


def test_draws_are_a_function_of_seed_and_step():
  np.testing.assert_array_equal(_drawn(3, 7), _drawn(3, 7))
  assert not np.intersect1d(_drawn(3, 7), _drawn(4, 7)).size


@pytest.mark.parametrize('shape', [[], [5], [2, 3]])
def test_standard_normal_is_tensorflows(shape):
  seed = tf.constant([1, 2])
  np.testing.assert_array_equal(
      noise.standard_normal(shape, seed),
      tf.random.stateless_normal(shape, seed))


def _actor(mean, std):
  spec = tensor_spec.BoundedTensorSpec([3], tf.float32, -1.0, 1.0)
  return distribution_utils.SquashToSpecNormal(
      tfp.distributions.MultivariateNormalDiag(mean, std), spec)


def test_slopes_of_log_pi_by_hand():
  """log π = −ε²/2 − log σ − log(1 − tanh²x) + const, where x = μ + σε."""
  mean, std = tf.constant([[-1.0, 0.0, 2.0]]), tf.constant([[0.5, 1.0, 2.0]])
  epsilon = tf.constant([[-1.0, 0.0, 0.25]])
  with tf.GradientTape() as tape:
    tape.watch((mean, std))
    _, log_pi = noise.sample_actions(_actor(mean, std), epsilon)
  by_mean, by_std = tape.gradient(log_pi, (mean, std))
  tanh = np.tanh([[-1.5, 0.0, 2.5]])
  np.testing.assert_allclose(by_mean, 2 * tanh, rtol=1e-5)
  np.testing.assert_allclose(
      by_std, 2 * tanh * epsilon - 1 / std.numpy(), rtol=1e-5)


def test_slopes_of_a_given_actions_likelihood_by_hand():
  mean, std = tf.constant([[-1.0, 0.0, 2.0]]), tf.constant([[0.5, 1.0, 2.0]])
  with tf.GradientTape() as tape:
    tape.watch((mean, std))
    likelihood = noise.log_likelihood(
        _actor(mean, std), tf.tanh([[-0.5, 0.25, 1.0]]))
  by_mean, by_std = tape.gradient(likelihood, (mean, std))
  np.testing.assert_allclose(by_mean, [[2.0, 0.25, -0.25]], rtol=1e-4)
  np.testing.assert_allclose(
      by_std, [[2.0 - 2.0, 0.0625 - 1.0, 0.125 - 0.5]], rtol=1e-4, atol=1e-4)
