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


def test_cloning_weighed_by_value_by_hand():
  distribution, actions = _policy_and_data()
  objective = tf.constant([-4. * np.log(3.), 0.], tf.float32)  # V 4 log 3, 0
  with tf.GradientTape() as tape:
    tape.watch(objective)
    constrained = constraints.behaviour_cloning(
        objective, distribution, actions, tf.constant(5, tf.int64), weight=3.0,
        warm_up_steps=5, value_scale=4.0)
  # exp(V / 4) is 3 and 1, their mean 2, the distances 1 and 1.
  np.testing.assert_allclose(
      constrained - objective, [3. * 1.5, 3. * 0.5], rtol=1e-5)
  np.testing.assert_allclose(tape.gradient(constrained, objective), [1., 1.])


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


def _log_likelihood(x):
  """log π of tanh(x) by hand: π's Gaussian has means (atanh 0.5, 0), std 1."""
  mean = np.array([np.arctanh(0.5), 0.])
  density = -0.5 * np.square(x - mean) - 0.5 * np.log(2 * np.pi)
  return np.sum(density - np.log(1 - np.square(np.tanh(x))), axis=-1)


def test_the_likelihood_by_hand_and_finite_at_the_bounds():
  distribution, actions = _policy_and_data()
  expected = _log_likelihood(np.arctanh(
      np.clip(actions.numpy().astype(np.float64), -0.9999, 0.9999)))
  constrained = constraints.likelihood(
      tf.constant([10., 20.]), distribution, actions,
      tf.constant(5, tf.int64), weight=3.0)
  np.testing.assert_allclose(
      constrained, [10. - 3. * expected[0], 20. - 3. * expected[1]], rtol=1e-3)


def test_a_cloned_start_ends_at_its_step():
  distribution, actions = _policy_and_data()
  objective = tf.constant([10., 20.])
  expected = -_log_likelihood(np.arctanh(
      np.clip(actions.numpy().astype(np.float64), -0.9999, 0.9999)))
  twice = lambda objective, *_: 2.0 * objective  # noqa: E731
  for step, then, values in ((4, constraints.unconstrained, expected),
                             (5, constraints.unconstrained, [10., 20.]),
                             (5, twice, [20., 40.])):
    with tf.GradientTape() as tape:
      tape.watch(objective)
      loss = constraints.cloned_start(
          objective, distribution, actions, tf.constant(step, tf.int64),
          steps=5, then=then)
    np.testing.assert_allclose(loss, values, rtol=1e-3)
    assert np.any(tape.gradient(loss, objective)) == (step == 5)
