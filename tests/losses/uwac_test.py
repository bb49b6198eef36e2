"""UWAC's terms, by hand."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.losses import uwac


def test_uncertainty_takes_weight_and_gets_no_gradient():
  variance = tf.Variable([0.0, 2.0])
  with tf.GradientTape() as tape:
    found = uwac.uncertainty_weight(variance, beta=0.5)
  np.testing.assert_allclose(found, [1.0, np.exp(-1.0)], rtol=1e-6)
  assert tape.gradient(found, variance) is None


@pytest.mark.parametrize('kernel, distance', [
    (uwac.gaussian_kernel, lambda d: np.sum(d**2)),
    (uwac.laplacian_kernel, lambda d: np.sum(np.abs(d)))])
def test_mmd_is_the_direct_double_loop(kernel, distance):
  rng = np.random.default_rng(0)
  x = rng.normal(size=[4, 3, 2]).astype(np.float32)  # [K, B, act]
  y = rng.normal(1.0, size=[5, 3, 2]).astype(np.float32)
  k = lambda a, b: np.exp(-distance(a - b) / (2 * 0.7))  # noqa: E731
  expected = []
  for row in range(3):
    mean = lambda a, b, r=row: np.mean(  # noqa: E731
        [[k(p, q) for q in b[:, r]] for p in a[:, r]])
    expected.append(np.sqrt(mean(x, x) - 2 * mean(x, y) + mean(y, y)))
  found = uwac.mmd(tf.constant(x), tf.constant(y),
                   lambda a, b: kernel(a, b, sigma=0.7))
  np.testing.assert_allclose(found, expected, rtol=1e-4)
  assert np.ptp(expected) > 0.01


def test_mmd_of_the_same_samples_has_a_finite_gradient():
  x = tf.Variable(np.random.default_rng(0).normal(size=[4, 3, 2]), tf.float32)
  with tf.GradientTape() as tape:
    found = uwac.mmd(x, x, uwac.gaussian_kernel)
  np.testing.assert_allclose(found, [1e-3] * 3, rtol=1e-2)
  assert np.isfinite(tape.gradient(found, x)).all()


@pytest.mark.parametrize('warming_up, expected', [
    (True, [3 * 0.5, 3 * -0.1]),
    (False, [3 * 0.5 - 0.25 * 8, 3 * -0.1 - 1.0 * -2])])
def test_the_actor_heeds_the_constraint_first(warming_up, expected):
  found = uwac.weighted_objective(
      tf.constant([8., -2.]), tf.constant([0.25, 1.0]),
      tf.constant([0.5, -0.1]), tf.constant(3.0), tf.constant(warming_up))
  np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_dual_variable_rises_where_the_constraint_is_broken():
  log_dual, excess = tf.Variable(0.0), tf.Variable([0.5, -0.2])
  with tf.GradientTape() as tape:
    found = uwac.dual_objective(log_dual, excess)
  np.testing.assert_allclose(found, [-0.5, 0.2], rtol=1e-6)
  by_dual, by_excess = tape.gradient(found, (log_dual, excess))
  np.testing.assert_allclose(by_dual, -0.3, rtol=1e-6)  # descent raises it
  assert by_excess is None


def test_vae_loss_by_hand():
  found = uwac.vae_loss(
      tf.constant([[1.0, 0.0]]), tf.constant([[0.0, 2.0]]),
      tf.constant([[1.0, 0.0]]), tf.constant([[1.0, np.e]], tf.float32))
  # (1 + 4) / 2, and KLs of 1/2 and (e² − 3) / 2, their mean halved.
  np.testing.assert_allclose(
      found, [2.5 + 0.5 * (0.5 + (np.e**2 - 3) / 2) / 2], rtol=1e-6)
