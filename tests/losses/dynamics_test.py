"""Terms of a dynamics model, by hand and against tfp."""
import math

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.losses import dynamics

_RNG = np.random.default_rng(0)


def _random(*shape):
  return tf.constant(_RNG.normal(size=shape).astype(np.float32))


def test_the_error_is_tfps_log_likelihood():
  mean, log_variance, targets = (_random(3, 4, 2) for _ in range(3))
  normal = tfp.distributions.Normal(mean, tf.exp(0.5 * log_variance))
  np.testing.assert_allclose(
      dynamics.gaussian_error(mean, log_variance, targets),
      -2.0 * normal.log_prob(targets) - math.log(2.0 * math.pi), rtol=1e-5,
      atol=1e-5)


def test_the_loss_by_hand():
  # Member 0: errors (1²·e⁰ + 0, 2²/4 + ln 4); member 1: (0 + 0, 0 + 0).
  mean = tf.constant([[[1.0, 2.0]], [[3.0, 0.0]]])
  targets = tf.constant([[[0.0, 0.0]], [[3.0, 0.0]]])
  log_variance = tf.constant([[[0.0, math.log(4.0)]], [[0.0, 0.0]]])
  # Bounds: member 0 is 1 + 2 wide, member 1 is 5 + 0.
  low = tf.zeros([2, 1, 2])
  high = tf.constant([[[1.0, 2.0]], [[5.0, 0.0]]])
  found = dynamics.model_loss(mean, log_variance, targets, low, high, 0.1)
  expected = (1.0 + 1.0 + math.log(4.0)) / 2 + 0.0 + 0.1 * (3.0 + 5.0) / 2
  np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_member_has_no_part_in_the_error_of_another():
  mean = tf.Variable(_random(2, 3, 2))
  targets = tf.Variable(_random(2, 3, 2))
  bounds = tf.zeros([2, 1, 2])
  with tf.GradientTape() as tape:
    errors = dynamics.gaussian_error(mean, tf.zeros([2, 3, 2]), targets)
    first = tf.reduce_sum(errors[0])
  assert not tape.gradient(first, mean)[1].numpy().any()
  # The sum over members, not their mean: one more member slows none down.
  one, two = (
      dynamics.model_loss(
          tf.ones([members, 1, 2]), tf.zeros([members, 1, 2]),
          tf.zeros([members, 1, 2]), bounds[:members], bounds[:members], 1.0)
      for members in (1, 2))
  assert (float(one), float(two)) == (1.0, 2.0)


def test_the_clamp_is_soft_and_on_both_sides():
  low, high = tf.fill([1, 1, 1], -10.0), tf.fill([1, 1, 1], 0.5)
  values = tf.constant([[[-100.0], [-5.0], [0.5], [100.0]]])
  found = dynamics.bound_log_variance(values, low, high)[0, :, 0].numpy()
  # 0.5 − softplus(0) = 0.5 − ln 2; the other bound is far away.
  np.testing.assert_allclose(
      found, [-10.0, -5.0, 0.5 - math.log(2.0), 0.5], atol=0.01)


def test_the_bounds_learn_and_are_drawn_together():
  low, high = tf.Variable([[[-10.0]]]), tf.Variable([[[0.5]]])
  with tf.GradientTape() as tape:
    loss = dynamics.model_loss(
        tf.zeros([1, 1, 1]), tf.zeros([1, 1, 1]), tf.zeros([1, 1, 1]), low,
        high, 0.01)
  down, up = tape.gradient(loss, [high, low])
  np.testing.assert_allclose([down[0, 0, 0], up[0, 0, 0]], [0.01, -0.01])


def test_every_layer_has_its_decay():
  kernels = [tf.constant([[[1.0, 2.0]]]), tf.constant([[[3.0]]])]
  np.testing.assert_allclose(
      dynamics.weight_decay(kernels, [0.2, 2.0]), 0.1 * 5.0 + 1.0 * 9.0)


def test_uncertainty_is_the_largest_norm_the_reward_included():
  # Row 0: norms 5 and 4; row 1: 1 and √(4 + 4 + 1) = 3, of the reward too.
  std = tf.constant([[[3.0, 0.0, 4.0], [1.0, 0.0, 0.0]],
                     [[4.0, 0.0, 0.0], [2.0, 1.0, 2.0]]])
  np.testing.assert_allclose(dynamics.model_uncertainty(std), [5.0, 3.0])
