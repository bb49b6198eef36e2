"""Draws: new in every call and in every step, the same when asked again."""
import numpy as np
import pytest
import tensorflow as tf

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
