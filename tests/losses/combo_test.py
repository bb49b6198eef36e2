"""COMBO's conservative term, by hand."""
import math

import numpy as np
import tensorflow as tf

from drvf_tf.losses import combo
from drvf_tf.losses import regularizers as base
from drvf_tf.networks import actor_network, noise, q_values
from tests import fakes


def _context(size=4, data_weights=None):
  observations, actions, _, _, next_observations = fakes.arrays(size)
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,), head_range=0.5, seed=0)
  return base.Context(
      None, lambda s: actor(s)[0], tf.constant(observations),
      tf.constant(actions), tf.constant(next_observations), fakes.ACTION_SPEC,
      tf.constant(0, tf.int64), 1.0,
      noise.Draws.at_step(0, tf.constant(0, tf.int64)),
      data_weights=data_weights)


def test_thirty_actions_at_each_state_with_their_own_densities():
  context = _context()
  pairs = combo.ConservativeMixture(num_actions=10).pairs(context)
  assert pairs.actions.shape == [30 * 4, 2] and pairs.log_pi.shape == [30, 4]
  # All at s; the second ten were drawn at s', and have their density there.
  np.testing.assert_array_equal(
      pairs.observations, np.tile(context.observations, [30, 1]))
  actions = tf.reshape(pairs.actions, [30, 4, 2])
  for rows, states in ((slice(0, 10), context.observations),
                       (slice(10, 20), context.next_observations)):
    np.testing.assert_allclose(
        pairs.log_pi[rows], context.policy(states).log_prob(actions[rows]),
        rtol=1e-3, atol=1e-4)
  np.testing.assert_allclose(pairs.log_pi[20:], -math.log(4.0), rtol=1e-6)


def test_the_data_are_raised_and_the_model_s_rows_are_not():
  # Rows 0 and 1 are the data's: B / 2 = 2 each.
  context = _context(data_weights=tf.constant([2.0, 2.0, 0.0, 0.0]))
  part = combo.ConservativeMixture(weight=3.0, num_actions=1)
  pairs = part.pairs(context)._replace(log_pi=tf.zeros([3, 4]))
  q = tf.Variable(tf.reshape(tf.math.log(
      [[1.0, 1.0, 1.0, 5.0], [2.0, 1.0, 1.0, 2.0], [3.0, 1.0, 1.0, 1.0]]),
                             [1, 12]))
  q_data = tf.Variable([[0.5, 1.0, 7.0, 9.0]])
  with tf.GradientTape() as tape:
    loss, gap = part.loss(context, base.Seen(
        q_values.QValues(None, q_data, None), pairs,
        q_values.QValues(None, q, None)))
    total = tf.reduce_sum(loss)
  # log of the sums over three actions, less 2·Q where the row is data.
  np.testing.assert_allclose(
      gap, np.log([6, 3, 3, 8]) - [1.0, 2.0, 0.0, 0.0], rtol=1e-6)
  lowered, raised = tape.gradient(total, [q, q_data])
  # What is lowered is lowered by its share: the gradient passes the sum.
  np.testing.assert_allclose(
      tf.reshape(lowered, [3, 4]),
      3.0 * np.array([[1, 2, 2, 5], [2, 2, 2, 2], [3, 2, 2, 1]])
      / [6, 6, 6, 8], rtol=1e-5)
  np.testing.assert_allclose(raised, [[-6.0, -6.0, 0.0, 0.0]])


def test_the_integral_is_what_the_sum_estimates():
  """With Q = a_0 on [−1, 1]², ∫ exp Q da = 2·(e − 1/e)."""
  context = _context()
  part = combo.ConservativeMixture(num_actions=4_000)
  pairs = part.pairs(context)
  _, gap = part.loss(context, base.Seen(
      q_values.QValues(None, tf.zeros([1, 4]), None), pairs,
      q_values.QValues(None, pairs.actions[tf.newaxis, :, 0], None)))
  exact = math.log(2.0 * (math.e - 1.0 / math.e)) + math.log(12_000)
  np.testing.assert_allclose(gap, exact, atol=0.1)
