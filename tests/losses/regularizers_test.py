"""Which pairs a regularizer asks for."""
import functools

import numpy as np
import tensorflow as tf

from drvf_tf.losses import ood_actions, regularizers
from drvf_tf.networks import noise
from tests import fakes


def _pairs(**kwargs):
  observations, actions, *_ = fakes.arrays(8)
  context = regularizers.Context(
      None, None, tf.constant(observations), tf.constant(actions),
      None, fakes.ACTION_SPEC, None, 1.0,
      noise.Draws.at_step(0, tf.constant(0, tf.int64)))
  # The data's own actions without noise: every state knows its action.
  source = functools.partial(ood_actions.noisy_dataset, std=0.0)
  repulsion = regularizers.Repulsion(1.0, num_actions=3, source=source,
                                     **kwargs)
  return observations, actions, repulsion.pairs(context)


def test_every_state_keeps_its_own_actions():
  observations, actions, pairs = _pairs()
  np.testing.assert_array_equal(pairs[0], np.tile(observations, [3, 1]))
  np.testing.assert_array_equal(pairs[1], np.tile(actions, [3, 1]))


def test_fewer_states_are_evenly_spaced():
  observations, actions, pairs = _pairs(batch_size=4)
  np.testing.assert_array_equal(pairs[0], np.tile(observations[::2], [3, 1]))
  np.testing.assert_array_equal(pairs[1], np.tile(actions[::2], [3, 1]))
