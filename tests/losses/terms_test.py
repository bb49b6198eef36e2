"""Eqs. (10), (15) and (17), by hand-computed numbers."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.losses import terms
from drvf_tf.networks import q_values

SAMPLES = tf.constant([[[1., 5.], [7., 9.]],
                       [[4., 2.], [0., -4.]]])  # [M=2, B=2, n=2]
Q = q_values.QValues(SAMPLES, mean=tf.constant([[3., 8.], [5., -2.]]),
                  variance=tf.zeros([2, 2]))


def test_bellman_error_with_a_shared_target():
  # Row 0, target 2: member 0 (1+9)/2 = 5, member 1 (4+0)/2 = 2.
  # Row 1, target 1: member 0 (36+64)/2 = 50, member 1 (1+25)/2 = 13.
  np.testing.assert_allclose(
      terms.bellman_error(SAMPLES, tf.constant([[2., 1.]])), [7., 63.])


def test_bellman_error_with_targets_of_each_member():
  # Member 0 has targets (2, 1), member 1 has (3, -2).
  np.testing.assert_allclose(
      terms.bellman_error(SAMPLES, tf.constant([[2., 1.], [3., -2.]])),
      [5. + 1., 50. + 4.])


def test_expected_bellman_error():
  # Row 0, target 2: (3−2)² + 4 and (5−2)² + 1; row 1, target 1: (8−1)² + 2
  # and (−2−1)² + 3.
  q = Q._replace(samples=None, variance=tf.constant([[4., 2.], [1., 3.]]))
  np.testing.assert_allclose(
      terms.expected_error(q, tf.constant([[2., 1.]])), [15., 63.])


def test_expected_bellman_error_is_the_mean_over_draws():
  mean, std = np.array([[3.], [-1.]]), np.array([[2.], [0.5]])
  noise = np.random.default_rng(0).normal(size=(2, 1, 200_000))
  samples = tf.constant(mean[..., None] + std[..., None] * noise, tf.float32)
  q = q_values.QValues(samples, tf.constant(mean, tf.float32),
                       tf.constant(std**2, tf.float32))
  targets = tf.constant([[1.]])
  np.testing.assert_allclose(terms.expected_error(q, targets),
                             terms.sampled_error(q, targets), rtol=1e-2)


def test_kl_scales():
  assert terms.kl_per_batch(257, 400.0) == 1 / 400
  assert terms.kl_mean(257, 400.0) == 1 / 257
  assert terms.kl_mean(257, 400.0, factor=0.5) == 0.5 / 257
  assert terms.kl_sum(257, 400.0) == 1


def test_eq_15_pooled():
  np.testing.assert_allclose(
      terms.pooled_std(Q),
      [np.std([1., 5., 4., 2.]), np.std([7., 9., 0., -4.])], rtol=1e-6)


def test_eq_15_per_member():
  np.testing.assert_allclose(terms.per_member_std(Q), [2. + 1., 1. + 2.],
                             rtol=1e-6)


def test_eq_15_between_means():
  np.testing.assert_allclose(terms.between_means_std(Q), [1., 5.], rtol=1e-6)


def test_eq_15_in_closed_form():
  # Row 0: variances 4 and 1, means 3 and 5; row 1: 2 and 3, 8 and −2.
  q = Q._replace(samples=None, variance=tf.constant([[4., 2.], [1., 3.]]))
  np.testing.assert_allclose(
      terms.total_std(q), np.sqrt([2.5 + 1., 2.5 + 25.]), rtol=1e-6)


@pytest.mark.parametrize(
    'spread', [terms.pooled_std, terms.per_member_std,
               terms.between_means_std, terms.total_std])
def test_repulsion_has_a_finite_gradient_when_samples_coincide(spread):
  samples, mean = tf.ones([3, 4, 5]), tf.ones([3, 4])
  with tf.GradientTape() as tape:
    tape.watch([samples, mean])
    value = tf.reduce_sum(spread(
        q_values.QValues(samples, mean, tf.zeros_like(mean))))
  gradients = tape.gradient(value, [samples, mean])
  for gradient in gradients:
    assert gradient is None or np.isfinite(gradient).all()


def test_eq_17_actor():
  # min Q = (3, 8), log π = (-2, 1), β = 0.5: -(3 + 1) and -(8 - 0.5).
  objective = terms.actor_objective(
      tf.constant([[3., 8.]]), tf.constant([-2., 1.]), tf.constant(0.5))
  np.testing.assert_allclose(objective, [-4., -7.5])


def test_temperature_rises_when_entropy_is_below_its_target():
  log_temperature, log_pi = tf.constant(0.3), tf.constant([2., 4.])
  with tf.GradientTape() as tape:
    tape.watch([log_temperature, log_pi])
    loss = tf.reduce_mean(
        terms.temperature_objective(log_temperature, log_pi, -1.0))
  gradients = tape.gradient(loss, [log_temperature, log_pi])
  # Entropy -3 against the target -1: the slope is -2, so descent raises β.
  np.testing.assert_allclose(gradients[0], -2.0)
  assert gradients[1] is None
