"""Eqs. (13) and (14) and the backups, by hand-computed numbers."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.losses import backups
from drvf_tf.networks import q_values

# Two members, two rows, three draws: every reduction gives another number.
Q = q_values.QValues(
    samples=tf.constant([[[1., 5., 3.], [7., 8., 9.]],
                         [[4., 2., 6.], [0., -2., -4.]]]),
    mean=tf.constant([[3., 8.], [5., -2.]]),
    variance=tf.constant([[4., 1.], [2., 3.]]))


def test_minimum_is_over_members_and_draws():
  np.testing.assert_allclose(backups.minimum(Q), [[1., -4.]])


def test_independent_minimum_keeps_members_apart():
  np.testing.assert_allclose(backups.independent_minimum(Q),
                             [[1., 7.], [2., -4.]])


@pytest.mark.parametrize('backup, slope', [
    (backups.minimum, [[[1, 0], [0, 0]], [[0, 0], [1, 0]]]),
    (backups.independent_minimum, [[[1, 0], [0, 1]], [[1, 0], [1, 0]]]),
    (backups.minimum_of_means, [[[0, 0], [.5, .5]], [[.5, .5], [0, 0]]]),
])
def test_the_slope_of_a_minimum_is_that_of_one_even_where_two_coincide(
    backup, slope):
  samples = tf.Variable([[[2., 9.], [3., 1.]], [[5., 5.], [0., 4.]]])
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(backup(q_values.QValues(
        samples, tf.zeros([2, 2]), tf.zeros([2, 2]))))
  np.testing.assert_array_equal(tape.gradient(value, samples), slope)


def test_independent_mean_is_over_draws_alone():
  np.testing.assert_allclose(backups.independent_mean(Q), [[3., 8.], [4., -2.]])


def test_first_member_leaves_the_others_out():
  np.testing.assert_allclose(backups.first_member(Q), [[3., 8.]])


def test_means_are_over_draws_before_members():
  np.testing.assert_allclose(backups.minimum_of_means(Q), [[3., -2.]])
  np.testing.assert_allclose(backups.soft_minimum(Q, share=0.75),
                             [[0.75 * 3 + 0.25 * 4, 0.75 * -2 + 0.25 * 8]])


def test_closed_form_lcb_uses_the_total_variance():
  # Row 0: mean 4, within (4+2)/2 = 3, between ((3-4)²+(5-4)²)/2 = 1.
  # Row 1: mean 3, within (1+3)/2 = 2, between ((8-3)²+(-2-3)²)/2 = 25.
  np.testing.assert_allclose(
      backups.lcb(Q, alpha=2.0),
      [[4 - 2 * np.sqrt(4.), 3 - 2 * np.sqrt(27.)]], rtol=1e-6)


def test_a_fading_lcb_follows_the_train_step():
  # α from 4 at step 10 to 1 at step 13; the mean and std of row 0 are 4, 2.
  step = tf.Variable(0, dtype=tf.int64)
  backup = backups.following(
      backups.FadingLcb(first=4.0, then=1.0, start=10, length=3), step)
  seen = tf.function(lambda: backup(Q)[0, 0])
  for now, alpha in ((0, 4), (10, 4), (11, 3), (12, 2), (13, 1), (99, 1)):
    step.assign(now)
    np.testing.assert_allclose(seen(), 4 - 2 * alpha, rtol=1e-6)


def test_other_backups_do_not_know_the_step():
  assert backups.following(backups.minimum, tf.Variable(0)) is backups.minimum


def test_a_fading_lcb_without_a_length_is_refused():
  with pytest.raises(ValueError, match='length must be at least 1'):
    backups.FadingLcb(first=4.0, then=1.0, start=10, length=0)


def test_sampled_lcb_uses_the_samples():
  # Row 0: 1..6, mean 3.5, variance 35/12. Row 1: mean 3, variance 32.666.
  variance = np.var([7., 8., 9., 0., -2., -4.])
  np.testing.assert_allclose(
      backups.sampled_lcb(Q, alpha=0.5),
      [[3.5 - 0.5 * np.sqrt(35 / 12), 3 - 0.5 * np.sqrt(variance)]],
      rtol=1e-6)


@pytest.mark.parametrize('n, alpha',
                         [(2, .60), (5, 1.19), (10, 1.56), (50, 2.25),
                          (100, 2.51)])
def test_eq_13_coefficient(n, alpha):
  assert backups.lcb_coefficient(n) == pytest.approx(alpha, abs=0.005)


@pytest.mark.parametrize('n', [2, 3, 5, 10, 20, 50, 100])
def test_eq_13_agrees_with_the_minimum_of_gaussians(n):
  draws = np.random.default_rng(0).normal(size=[100_000, n])
  assert backups.lcb_coefficient(n) == pytest.approx(
      -draws.min(axis=1).mean(), abs=0.04)


def test_eq_13_needs_a_sample():
  with pytest.raises(ValueError, match='num_samples'):
    backups.lcb_coefficient(0)


def test_eq_14_target():
  next_value = tf.constant([[10., 20.], [30., 40.]])
  with tf.GradientTape() as tape:
    tape.watch(next_value)
    target = backups.td_target(
        reward=tf.constant([1., 2.]), discount=tf.constant([1., 0.]),
        next_value=next_value, next_log_pi=tf.constant([-3., -5.]),
        temperature=tf.constant(0.5), gamma=0.9)
  # 1 + .9·(10 + .5·3) = 11.35; 1 + .9·31.5 = 29.35; a terminal keeps r alone.
  np.testing.assert_allclose(target, [[11.35, 2.], [29.35, 2.]], rtol=1e-6)
  assert tape.gradient(target, next_value) is None
