"""What may be added to the actor's objective."""
import numpy as np
import tensorflow as tf

from drvf_tf.losses import constraints
from drvf_tf.networks import actor_network
from tests import fakes


def _policy_and_data():
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (), seed=0)
  actor.create_variables()
  kernel, bias = actor.variables
  kernel.assign(tf.zeros_like(kernel))
  bias.assign([np.arctanh(0.5), 0., 0., 0.])  # π(s) = (0.5, 0)
  return actor(tf.zeros([2, 3]))[0], tf.constant([[0.5, 1.], [-0.5, 0.]])


def test_behaviour_cloning_by_hand():
  distribution, actions = _policy_and_data()
  objective = tf.constant([10., 20.])
  constrained = constraints.behaviour_cloning(
      objective, distribution, actions, tf.constant(5, tf.int64), weight=3.0,
      warm_up_steps=5)
  np.testing.assert_allclose(constrained, [10. + 3. * 1., 20. + 3. * 1.],
                             rtol=1e-5)


def test_in_the_warm_up_the_actor_only_clones():
  distribution, actions = _policy_and_data()
  objective = tf.constant([10., 20.])
  with tf.GradientTape() as tape:
    tape.watch(objective)
    cloned = constraints.behaviour_cloning(
        objective, distribution, actions, tf.constant(4, tf.int64), weight=3.0,
        warm_up_steps=5)
  np.testing.assert_allclose(cloned, [1., 1.], rtol=1e-5)
  np.testing.assert_allclose(tape.gradient(cloned, objective), [0., 0.])


def test_unconstrained_is_eq_17():
  objective = tf.constant([10., 20.])
  assert constraints.unconstrained(objective, None, None, None) is objective
