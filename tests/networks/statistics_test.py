"""Spread, diversity and the exact LCB penalty."""
import numpy as np
import tensorflow as tf

from drvf_tf.networks import statistics


def test_total_variance_is_within_plus_between():
  stats = statistics.q_statistics(
      tf.constant([[3., 8.], [5., -2.]]), tf.constant([[4., 1.], [2., 3.]]))
  np.testing.assert_allclose(stats.mean, [4., 3.])
  np.testing.assert_allclose(stats.std_within, np.sqrt([3., 2.]), rtol=1e-6)
  np.testing.assert_allclose(stats.std_between, [1., 5.], rtol=1e-6)
  np.testing.assert_allclose(stats.std, np.sqrt([4., 27.]), rtol=1e-6)


def test_slopes_of_mean_and_std_by_hand():
  """By q_j: 1/M and (q_j − Q̄) / (M·Std); Std by v_j: 1 / (2M·Std)."""
  mean, variance = tf.constant([[1.0], [4.0]]), tf.constant([[3.0], [5.0]])
  with tf.GradientTape(persistent=True) as tape:
    tape.watch((mean, variance))
    stats = statistics.q_statistics(mean, variance)
  std = 2.5  # √(4 + 2.25)
  np.testing.assert_allclose(stats.std, [std])
  np.testing.assert_allclose(tape.gradient(stats.mean, mean), [[0.5], [0.5]])
  by_mean, by_variance = tape.gradient(stats.std, (mean, variance))
  np.testing.assert_allclose(
      by_mean, [[-1.5 / (2 * std)], [1.5 / (2 * std)]])
  np.testing.assert_allclose(by_variance, [[0.25 / std], [0.25 / std]])


def test_effective_members_of_independent_and_of_collapsed_samples():
  draws = np.random.default_rng(0).normal(size=[4, 4000, 2])
  free = statistics.effective_members(tf.constant(draws, tf.float32))
  np.testing.assert_allclose(free, 7.0, rtol=0.01)  # M·n − 1
  line = np.arange(8.).reshape(4, 1, 2) * draws[:1, :, :1]
  np.testing.assert_allclose(
      statistics.effective_members(tf.constant(line, tf.float32)), 1.0,
      rtol=1e-5)
  assert float(statistics.effective_members(tf.ones([4, 10, 2]))) == 0.0


def test_eq_11_by_hand():
  # Λ = diag(3, 8) + I = diag(4, 9); ψ = (2, 3): 4/4 + 9/9 = 2.
  data = tf.constant([[np.sqrt(3.), 0.], [0., np.sqrt(8.)]], tf.float32)
  np.testing.assert_allclose(
      statistics.exact_lcb_penalty(tf.constant([[2., 3.]]), data),
      [np.sqrt(2.)], rtol=1e-6)
