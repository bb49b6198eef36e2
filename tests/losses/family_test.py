"""Terms of EDAC, PBRL and MSG, by hand-computed numbers."""
import math

import numpy as np
import tensorflow as tf

from drvf_tf.losses import backups, edac, msg, pbrl
from drvf_tf.networks import q_values


def test_edac_similarity_of_two_linear_critics():
  # Q_0 = 3 a_0 + 4 a_1 and Q_1 = a_0: the cosine is 3/5, over two ordered
  # pairs, divided by N − 1 = 1. Lengths do not matter.
  gradients = tf.constant([[[3., 4.]], [[1., 0.]]])
  np.testing.assert_allclose(
      edac.gradient_similarity(gradients), [1.2], rtol=1e-6)
  np.testing.assert_allclose(
      edac.gradient_similarity(
          gradients * [[[7.]], [[-2.]]]), [-1.2], rtol=1e-6)


def test_edac_similarity_of_three_critics():
  # Cosines 0 (0,1), 1 (0,2) and 0 (1,2): two ordered pairs of 1, over 2.
  gradients = tf.constant([[[2., 0.]], [[0., 1.]], [[5., 0.]]])
  np.testing.assert_allclose(
      edac.gradient_similarity(gradients), [1.0], rtol=1e-6)


def test_a_gradient_of_zero_is_no_nan():
  gradients = tf.Variable([[[0., 0.]], [[1., 0.]]])
  with tf.GradientTape() as tape:
    value = edac.gradient_similarity(gradients)
  assert np.isfinite(value).all()
  assert np.isfinite(tape.gradient(value, gradients)).all()


def test_pbrl_pseudo_target_is_clipped_and_has_no_slope():
  # Row 0: Q = (5, 1), std = sqrt(8) with M − 1: targets (5 − √8/2, max(1 −
  # √8/2, 0) = 0), errors (√8/2, 1). Row 1: Q = (2, 2): std 0.
  q = tf.Variable([[5., 2.], [1., 2.]])
  with tf.GradientTape() as tape:
    loss = pbrl.pessimistic_regression(
        q, tf.constant([0.5, 0.5]), floor=0.0)
  np.testing.assert_allclose(loss, [2.0 + 1.0, 0.0], atol=1e-6)
  # d/dQ (Q − target)² with a fixed target: 2·error.
  np.testing.assert_allclose(
      tape.gradient(loss, q), [[math.sqrt(8), 0.0], [2.0, 0.0]], atol=1e-3)
  lower = pbrl.pessimistic_regression(
      q, tf.constant([0.5, 0.5]), floor=-100.0)
  np.testing.assert_allclose(lower, [4.0, 0.0], atol=1e-6)


def test_pbrl_backup_is_own_mean_less_the_spread():
  q = q_values.QValues(None, tf.constant([[5.], [1.]]), tf.zeros([2, 1]))
  np.testing.assert_allclose(
      backups.independent_lcb(q, beta=0.5),
      [[5 - math.sqrt(2)], [1 - math.sqrt(2)]], rtol=1e-6)


def test_pbrl_schedule():
  expected = {0: 5.0, 25_000: 3.0, 50_000: 1.0, 525_000: math.sqrt(0.2),
              1_000_000: 0.2, 3_000_000: 0.2}
  for step, value in expected.items():
    np.testing.assert_allclose(
        pbrl.ood_schedule(tf.constant(step, tf.int64)), value,
        rtol=1e-5)
  assert float(pbrl.constant_schedule(tf.constant(7))) == 2.0


def test_msg_gap():
  # One member, one state, two actions: Q = (log 3, 0) with densities 1 and
  # 1/2: log(3 + 2) − Q_data.
  q = tf.math.log([[[3.], [1.]]])
  np.testing.assert_allclose(
      msg.conservative_gap(
          q, tf.math.log([[1.], [0.5]]), tf.constant([[0.25]])),
      [math.log(5) - 0.25], rtol=1e-6)
