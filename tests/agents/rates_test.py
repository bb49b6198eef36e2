"""Learning rates that change."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.agents import rates


@pytest.mark.parametrize('decay_steps, step, expected', [
    (None, 0, 4.0), (None, 9, 4.0), (None, 10, 2.0), (None, 10_000, 2.0),
    (20, 10, 2.0), (20, 20, 1.0), (20, 30, 0.0), (20, 1_000, 0.0),
    (20, 15, 1.0 + np.cos(np.pi / 4))])
def test_a_settling_rate_by_hand(decay_steps, step, expected):
  rate = rates.SettlingRate(4.0, 2.0, 10, decay_steps)
  np.testing.assert_allclose(
      rate(tf.constant(step, tf.int64)), expected, atol=1e-6)
  again = rates.SettlingRate.from_config(rate.get_config())
  np.testing.assert_allclose(again(tf.constant(step, tf.int64)), expected,
                             atol=1e-6)


def test_adam_moves_by_it():
  variable = tf.Variable(0.0)
  optimizer = tf.keras.optimizers.legacy.Adam(
      rates.SettlingRate(0.5, 0.25, 1, 1))
  moves = []
  for _ in range(3):
    before = float(variable)
    optimizer.apply_gradients([(tf.constant(1.0), variable)])
    moves.append(before - float(variable))
  np.testing.assert_allclose(moves, [0.5, 0.25, 0.0], atol=1e-3)
