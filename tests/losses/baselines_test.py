"""Objectives of the baselines, by hand."""
import numpy as np
import tensorflow as tf

from drvf_tf.losses import baselines


def test_cloning_error_is_the_mean_over_dimensions():
  found = baselines.cloning_error(
      tf.constant([[1., 2.], [0., 0.]]), tf.constant([[0., 0.], [3., 1.]]))
  np.testing.assert_allclose(found, [2.5, 5.0])


def test_twin_bellman_error_is_a_sum():
  found = baselines.twin_bellman_error(
      tf.constant([1.]), tf.constant([4.]), tf.constant([2.]))
  np.testing.assert_allclose(found, [1.0 + 4.0])


def test_smoothing_clips_the_noise_then_the_action():
  # Bounds -2 and 2: noise counts in units of 2.
  found = baselines.smoothed_actions(
      tf.constant([[0.], [0.], [1.9], [-1.9]]),
      tf.constant([[1.], [-10.], [1.], [-10.]]),
      tf.constant(-2.), tf.constant(2.), scale=0.2, clip=0.5)
  np.testing.assert_allclose(found, [[0.4], [-1.0], [2.0], [-2.0]], rtol=1e-6)


def test_td3_bc_weighs_q_by_its_mean_size():
  q = tf.Variable([2., -6.])
  actions, data = tf.constant([[1.], [0.]]), tf.constant([[0.], [2.]])
  with tf.GradientTape() as tape:
    mean = tf.reduce_mean(tf.abs(q))  # 4
    found = baselines.td3_bc_objective(q, mean, actions, data, alpha=2.0)
  np.testing.assert_allclose(found, [1 - 0.5 * 2, 4 + 0.5 * 6])
  # No gradient flows through the weight, 2 / 4.
  np.testing.assert_allclose(tape.gradient(found, q), [-0.5, -0.5])


def test_rebrac_weighs_the_penalty_and_normalises_q():
  q = tf.Variable([2., -6.])
  actions = tf.Variable([[1., 1.], [0., 0.]])
  data = tf.constant([[0., 0.], [2., -1.]])
  with tf.GradientTape() as tape:
    mean = tf.reduce_mean(tf.abs(q))  # 4
    found = baselines.rebrac_objective(q, mean, actions, data, beta_1=0.1)
  # The distance is a sum over dimensions: 2 and 5.
  np.testing.assert_allclose(found, [0.2 - 0.5, 0.5 + 1.5], rtol=1e-6)
  by_q, by_actions = tape.gradient(found, (q, actions))
  # No gradient flows through the normalisation.
  np.testing.assert_allclose(by_q, [-0.25, -0.25])
  np.testing.assert_allclose(by_actions, [[0.2, 0.2], [-0.4, 0.2]], rtol=1e-6)


def test_expectile_error_weighs_the_two_sides():
  found = baselines.expectile_error(tf.constant([2., -2., 0.]), 0.9)
  np.testing.assert_allclose(found, [0.9 * 4, 0.1 * 4, 0.0], rtol=1e-6)


def test_expectile_of_two_points_is_where_the_error_is_least():
  # Of 0 and 1 the 0.8-expectile is 0.8: 0.8 (1 - v) = 0.2 v.
  grid = np.linspace(0, 1, 101, dtype=np.float32)
  error = [float(tf.reduce_sum(baselines.expectile_error(
      tf.constant([0., 1.]) - v, 0.8))) for v in grid]
  np.testing.assert_allclose(grid[int(np.argmin(error))], 0.8, atol=1e-6)


def test_advantage_weights_are_cut_and_constant():
  advantages = tf.Variable([0., 1., -1., 1e4])
  with tf.GradientTape() as tape:
    found = baselines.advantage_weights(advantages, 2.0, 100.0)
  np.testing.assert_allclose(
      found, [1.0, np.exp(2.0), np.exp(-2.0), 100.0], rtol=1e-6)
  assert tape.gradient(found, advantages) is None
