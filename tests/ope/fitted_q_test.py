"""Fitted Q evaluation: its target and loss by hand, its interval by a world."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.ope import fitted_q
from tests.ope import ring


def test_target_by_hand():
  q = tf.Variable([[1., 2.], [3., 4.]])
  with tf.GradientTape() as tape:
    target = fitted_q.fqe_target(
        tf.constant([10., 20.]), tf.constant([1., 0.]), q, 0.5)
  np.testing.assert_allclose(target, [[10.5, 20.], [11.5, 20.]])
  assert tape.gradient(target, q) is None


def test_loss_by_hand():
  loss = fitted_q.fqe_loss(
      tf.constant([[1., 2.], [3., 4.]]), tf.constant([[0., 0.], [1., 1.]]),
      tf.constant([[1., 2.], [0., 3.]]))
  assert float(loss) == pytest.approx((1 + 2 * 4) / 2 + (0 + 3 * 9) / 2)


def test_students_interval_by_hand():
  low, high = fitted_q.t_interval(np.array([1., 2., 3.]))
  # t of two degrees of freedom at 97.5 % is 4.3027; std is 1.
  assert (low, high) == pytest.approx((2 - 4.3027, 2 + 4.3027), abs=1e-3)


def _covers(seed, **settings):
  found = fitted_q.FittedQEvaluation(
      hidden_units=(32,), seed=seed, **settings)(
          ring.rows(seed), ring.act, ring.GAMMA)
  low, high = found.interval
  assert high - low < 4.0  # says something: values are from −10 to 10
  return low <= ring.true_value() <= high


def test_a_known_value_is_in_the_interval():
  assert _covers(0, num_steps=1_500, num_members=6)


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says():
  assert sum(_covers(seed, num_steps=1_500) for seed in range(20)) >= 18


def test_one_member_has_no_interval():
  with pytest.raises(ValueError, match='at least 2'):
    fitted_q.FittedQEvaluation(num_members=1)
