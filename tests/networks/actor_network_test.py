"""The actor: EDAC's initialisation, log-std bounds, the task's bounds."""
import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec

from drvf_tf.networks import actor_network
from tests import fakes


def test_edacs_initialisation():
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, hidden_units=(64, 32), seed=0)
  actor.create_variables()
  first, bias, second, _, head, head_bias = (v.numpy()
                                             for v in actor.variables)
  for kernel, bound in ((first, 3**-0.5), (second, 64**-0.5), (head, 1e-3),
                        (head_bias, 1e-3)):
    assert 0.8 * bound < np.abs(kernel).max() <= bound or kernel.size < 10
    assert np.abs(kernel).max() <= bound
  np.testing.assert_array_equal(bias, np.full(64, 0.1, np.float32))


def test_first_biases_can_be_spread_around_their_value():
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, hidden_units=(256, 32), seed=0,
      input_bias_range=2.0)
  actor.create_variables()
  first, second = actor.variables[1].numpy(), actor.variables[3].numpy()
  assert -1.9 <= first.min() < -1.7 and 1.9 < first.max() <= 2.1
  np.testing.assert_array_equal(second, np.full(32, 0.1, np.float32))


def test_log_std_is_clipped_to_its_bounds():
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, hidden_units=(), seed=0)
  actor.create_variables()
  kernel, bias = actor.variables
  kernel.assign(tf.zeros_like(kernel))
  for value, expected in ((-9., np.exp(-5.)), (0.5, np.exp(0.5)),
                          (9., np.exp(2.))):
    bias.assign([0., 0., value, value])
    distribution, _ = actor(tf.zeros([1, 3]))
    np.testing.assert_allclose(
        distribution.input_distribution.stddev(), [[expected] * 2], rtol=1e-5)


def test_actions_are_scaled_to_the_tasks_bounds():
  spec = tensor_spec.BoundedTensorSpec([2], tf.float32, [-1., 0.], [1., 10.])
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, spec, hidden_units=(), seed=0)
  actions = actor(tf.zeros([1000, 3]))[0].sample(seed=1).numpy()
  assert (actions.min(axis=0) >= [-1., 0.]).all()
  assert (actions.max(axis=0) <= [1., 10.]).all()
  np.testing.assert_allclose(actions.mean(axis=0), [0., 5.], atol=0.5)
