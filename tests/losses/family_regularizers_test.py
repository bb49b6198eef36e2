"""What EDAC, PBRL and MSG ask the critic for, and make of its answer."""
import math

import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.losses import edac, msg, pbrl
from drvf_tf.losses import regularizers as base
from drvf_tf.networks import actor_network, noise, q_values
from tests import fakes


class _LinearCritic:
  """Q_j = g_j·a with given g."""

  def __init__(self, slopes):
    self._slopes = tf.constant(slopes)

  def action_gradients(self, inputs):
    _, actions = inputs
    return tf.tile(self._slopes[:, tf.newaxis], [1, len(actions), 1])


def _context(critic=None, size=4, step=0):
  observations, actions, _, _, next_observations = fakes.arrays(size)
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,), seed=0)
  return base.Context(
      critic, lambda s: actor(s)[0], tf.constant(observations),
      tf.constant(actions), tf.constant(next_observations), fakes.ACTION_SPEC,
      tf.constant(step, tf.int64), 1.0,
      noise.Draws.at_step(0, tf.constant(0, tf.int64)))


def test_diversity_of_two_linear_critics():
  context = _context(_LinearCritic([[3., 4.], [1., 0.]]))
  loss, value = edac.GradientDiversity(0.5).loss(context, None)
  np.testing.assert_allclose(value, [1.2] * 4, rtol=1e-6)
  np.testing.assert_allclose(loss, [0.6] * 4, rtol=1e-6)


def test_diversity_compares_as_many_members_as_actions_have_dimensions():
  # Members 0 and 1 are parallel, 2 is at right angles to both: of two drawn
  # members the similarity is 2 or 0, never the mean over three.
  critic = _LinearCritic([[1., 0.], [1., 0.], [0., 1.]])
  context = _context(critic)
  regularizer = edac.GradientDiversity()
  values = {round(float(regularizer.loss(context, None)[1][0]), 5)
            for _ in range(20)}
  assert values == {0.0, 2.0}


def test_pbrl_asks_at_both_states_and_weighs_them_apart():
  regularizer = pbrl.OodPessimism(num_actions=3, floor=-100.)
  context = _context(step=0)
  pairs = regularizer.pairs(context)
  np.testing.assert_array_equal(
      pairs.observations,
      np.concatenate([np.tile(context.observations, [3, 1]),
                      np.tile(context.next_observations, [3, 1])]))
  assert pairs.actions.shape == [24, 2]
  q = q_values.QValues(None, tf.concat([tf.fill([1, 24], 5.),
                                        tf.fill([1, 24], 1.)], 0), None)
  loss, _ = regularizer.loss(context, base.Seen(None, pairs, q))
  # Both members err by β·std = β·√8: 5 at s in step 0, 0.1 at s'.
  np.testing.assert_allclose(loss, [2 * 25 * 8.] * 12 + [2 * 0.01 * 8.] * 12,
                             rtol=1e-4)


def test_pbrl_uses_as_many_states_as_it_is_told():
  pairs = pbrl.OodPessimism(
      num_actions=3, batch_size=2).pairs(_context())
  assert pairs.actions.shape == [12, 2]


def test_msg_pairs_and_their_densities():
  context = _context()
  regularizer = msg.ConservativeQ(weight=2.0, num_actions=3)
  pairs = regularizer.pairs(context)
  assert pairs.actions.shape == [24, 2] and pairs.log_pi.shape == [6, 4]
  # Uniform on [−1, 1]²: density 1/4.
  np.testing.assert_allclose(pairs.log_pi[3:], -math.log(4), rtol=1e-6)
  log_pi = context.policy(context.observations).log_prob(
      tf.reshape(pairs.actions, [6, 4, 2])[0])
  np.testing.assert_allclose(pairs.log_pi[0], log_pi, rtol=1e-3)
  q = q_values.QValues(None, tf.zeros([1, 24]), None)
  data = q_values.QValues(None, tf.fill([1, 4], 7.), None)
  loss, value = regularizer.loss(context, base.Seen(data, pairs, q))
  expected = tf.reduce_logsumexp(-pairs.log_pi, axis=0) - 7.0
  np.testing.assert_allclose(value, expected, rtol=1e-5)
  np.testing.assert_allclose(loss, 2 * expected, rtol=1e-5)


@pytest.mark.parametrize('make, match', [
    (lambda: edac.GradientDiversity(-1.0), 'eta'),
    (lambda: pbrl.OodPessimism(num_actions=0), 'num_actions'),
    (lambda: msg.ConservativeQ(weight=-1.0), 'weight')])
def test_bad_values_are_named(make, match):
  with pytest.raises(ValueError, match=match):
    make()
