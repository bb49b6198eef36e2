"""Adam within bounds, and Adam that starts anew; ATAC, which has both."""
import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.agents import constrained_adam
from drvf_tf.runs import configuration
from tests import fakes

_adam = tf.keras.optimizers.legacy.Adam


def test_each_members_kernel_is_projected_by_itself():
  kernel = tf.constant([[[3., 4.]], [[0.3, 0.4]]])  # norms 5 and 0.5
  np.testing.assert_allclose(
      constrained_adam.projected(kernel, 2.0), [[[1.2, 1.6]], [[0.3, 0.4]]],
      rtol=1e-6)


def test_the_projection_follows_adams_step_and_spares_biases():
  start = np.array([[[3., 4.]], [[0.3, 0.4]]], np.float32)
  one = tf.Variable(start, name='hidden_0/kernel')
  bias = tf.Variable(start, name='hidden_0/bias')
  free = tf.Variable(start)
  gradient = tf.constant([[[-1., 1.]], [[-1., 1.]]])
  projected = constrained_adam.ProjectedAdam(0.1, max_norm=2.0)
  adam = _adam(0.1)
  projected.apply_gradients([(gradient, one), (gradient, bias)])
  adam.apply_gradients([(gradient, free)])
  expected = free.numpy()
  np.testing.assert_array_equal(bias, expected)
  expected[0] *= 2.0 / np.linalg.norm(expected[0])
  np.testing.assert_allclose(one, expected, rtol=1e-6)


def test_a_bounded_adam_stays_where_it_may():
  variable = tf.Variable(0.0)
  optimizer = constrained_adam.BoundedAdam(1.0, low=-1.5, high=1.2)
  found = []
  for sign in [1.0] * 2 + [-1.0] * 12:  # from one end to the other
    optimizer.apply_gradients([(tf.constant(100.0 * sign), variable)])
    found.append(float(variable))
  np.testing.assert_allclose(found[:2], [-1.0, -1.5], rtol=1e-4)
  assert found[-1] == np.float32(1.2)


def test_a_restart_is_a_new_adam():
  restarted = constrained_adam.RestartedAdam(0.1, restart_step=3)
  old, new = _adam(0.1), _adam(0.1)
  one, other = tf.Variable([1.0, -2.0]), tf.Variable([1.0, -2.0])
  for i in range(6):
    gradient = tf.constant([1.0 + i, -0.5 * i])
    restarted.apply_gradients([(gradient, one)])
    (old if i < 3 else new).apply_gradients([(gradient, other)])
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize('make, match', [
    (lambda: constrained_adam.ProjectedAdam(0.1, max_norm=0.0), 'max_norm'),
    (lambda: constrained_adam.BoundedAdam(0.1, low=1.0, high=1.0), 'low'),
    (lambda: constrained_adam.RestartedAdam(0.1, restart_step=-1), 'restart')])
def test_bad_values_are_named(make, match):
  with pytest.raises(ValueError, match=match):
    make()


def test_the_two_phases():
  configuration.parse(['gin/hopper_medium.gin', 'gin/baselines/atac.gin'], [
      'START=2', 'EnsembleCriticNetwork.hidden_units=(8, 8)',
      'tanh_gaussian_actor.hidden_units=(8, 8)', 'ProjectedAdam.max_norm=0.5'])
  agent = gin.get_bindings('train_eval')['agent'](
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0)
  temperatures, moves, terms = [], [], []
  for step in range(4):
    before = [v.numpy() for v in agent.actor_network.trainable_variables]
    info = agent.train(fakes.transition(seed=step)).extra
    moves.append(max(np.abs(v - old).max() for v, old in zip(
        agent.actor_network.trainable_variables, before)))
    temperatures.append(float(agent._log_alpha))
    terms.append(float(info['critic_loss'] - 0.5 * info['td_loss']
                       - 0.5 * info['bellman_residual']))
    relative = float(info['relative_value'])
    assert 'effective_members' not in info  # of two it says nothing
  # Adam's first step is as long as its rate.
  np.testing.assert_allclose(moves[0], 5e-4, rtol=1e-2)
  np.testing.assert_allclose(moves[2], 5e-7, rtol=0.2)
  assert temperatures[:2] == [0.0, 0.0]
  np.testing.assert_allclose(abs(temperatures[2]), 5e-4, rtol=1e-2)
  np.testing.assert_allclose(terms[:2], 0.0, atol=1e-6)
  np.testing.assert_allclose(terms[3], relative / 16, rtol=1e-3, atol=1e-6)
  kernels = [v for v in agent.critic_network.trainable_variables
             if v.name.endswith('kernel:0')]
  assert len(kernels) == 3
  for kernel in kernels:
    assert np.linalg.norm(kernel, axis=(1, 2)).max() <= 0.5 + 1e-6
