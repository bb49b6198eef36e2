"""ATAC's terms, by hand."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.agents import ensemble_sac_agent
from drvf_tf.losses import atac, regularizers
from drvf_tf.networks import (
  actor_network,
  ensemble_critic_network,
  heads,
  noise,
  q_values,
)
from tests import fakes

_GAMMA = 0.9


def _values(samples):
  samples = tf.constant(samples)
  return q_values.QValues(samples, tf.reduce_mean(samples, axis=2), None)


def test_relative_value_is_the_policys_less_the_datas():
  found = atac.relative_value(tf.constant([[1., 2.], [5., 0.]]),
                              tf.constant([[0., 4.], [2., 1.]]))
  np.testing.assert_allclose(found, [1. + 3., -2. - 1.])


def test_residual_has_two_gradients():
  q = tf.Variable([[[1., 3.]], [[2., 2.]]])  # [M 2, B 1, n 2]
  backup = tf.Variable([[[0., 1.]], [[5., 2.]]])
  with tf.GradientTape() as tape:
    found = atac.bellman_residual(q, backup)
  np.testing.assert_allclose(found, [(1 + 4) / 2 + (9 + 0) / 2])
  by_q, by_backup = tape.gradient(found, (q, backup))
  np.testing.assert_allclose(by_q, [[[1., 2.]], [[-3., 0.]]])
  np.testing.assert_allclose(by_backup, -by_q)


@pytest.mark.parametrize('step, share', [(4, 0.0), (5, 1.0)])
def test_relative_pessimism_starts_late(step, share):
  context = regularizers.Context(
      *[None] * 6, tf.constant(step, tf.int64), 1.0, None)
  loss, value = atac.RelativePessimism(0.25, start_step=5).loss(
      context, regularizers.Seen(_values([[[1.]], [[2.]]]), None,
                                 _values([[[4.]], [[3.]]])))
  np.testing.assert_allclose(value, [4.])
  np.testing.assert_allclose(loss, [share])


def _linear_agent(parts, td_weight=0.0):
  """Q_j = w_j·(s, a) + b_j: no hidden layer."""
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      fakes.CRITIC_SPEC, num_members=2, hidden_units=(), head=heads.PointHead,
      seed=1)
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,), seed=2)
  adam = tf.keras.optimizers.legacy.Adam
  agent = ensemble_sac_agent.EnsembleSacAgent(
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, critic, actor, adam(), adam(),
      adam(), regularizers=parts, td_weight=td_weight, backup_entropy=0.0,
      gamma=_GAMMA, reward_scale_factor=2.0, seed=3)
  critic.head.kernel.assign(
      np.random.default_rng(4).normal(size=critic.head.kernel.shape))
  return agent


class _KnownActions(atac.BellmanResidual):
  """At actions that a test can name."""

  def pairs(self, context):
    self.asked = super().pairs(context)
    return self.asked


def test_the_residuals_gradient_on_a_linear_critic_by_hand():
  part = _KnownActions(0.5)
  agent, batch = _linear_agent((part,)), fakes.transition()
  step, following = batch.time_step, batch.next_time_step
  weights = agent.critic_network.head.kernel
  with tf.GradientTape() as tape:
    loss = agent.critic_loss(step, batch.action_step.action, following)
  found = tape.gradient(loss, weights)
  x = np.concatenate([step.observation, batch.action_step.action], axis=1)
  next_x = np.concatenate([following.observation, part.asked.actions], axis=1)
  assert np.ptp(part.asked.actions, axis=0).min() > 0.1
  w, b = weights.numpy()[..., 0], agent.critic_network.head.bias.numpy()
  expected = np.zeros_like(w)
  discount = _GAMMA * following.discount.numpy()
  for j in range(2):
    error = (x @ w[j] + b[j, 0, 0] - 2.0 * following.reward.numpy()
             - discount * (next_x @ w[j] + b[j, 0, 0]))
    expected[j] = 0.5 * np.mean(
        2 * error[:, None] * (x - discount[:, None] * next_x), axis=0)
  np.testing.assert_allclose(found[..., 0], expected, rtol=1e-4, atol=1e-5)


def test_neither_term_moves_the_actor():
  parts = (atac.BellmanResidual(0.5), atac.RelativePessimism(1.0))
  agent, batch = _linear_agent(parts, 0.5), fakes.transition()
  with tf.GradientTape() as tape:
    loss = agent.critic_loss(
        batch.time_step, batch.action_step.action, batch.next_time_step)
  assert tape.gradient(
      loss, agent.actor_network.trainable_variables) == [None] * 4


def test_both_ask_the_policy_one_at_s_and_one_at_the_next():
  batch, policy = fakes.transition(), _linear_agent(())._policy_distribution
  draws = lambda: noise.Draws.at_step(0, tf.constant(0, tf.int64))  # noqa: E731
  for part, observations in (
      (atac.RelativePessimism(1.0), batch.time_step.observation),
      (atac.BellmanResidual(1.0), batch.next_time_step.observation)):
    pairs = part.pairs(regularizers.Context(
        None, policy, batch.time_step.observation, batch.action_step.action,
        batch.next_time_step.observation, fakes.ACTION_SPEC, None, 1.0,
        draws()))
    np.testing.assert_array_equal(pairs.observations, observations)
    expected, _ = noise.sample_actions(
        policy(observations), draws().normal([8, 2]))
    np.testing.assert_allclose(pairs.actions, expected, rtol=1e-5)


@pytest.mark.parametrize('part', [atac.RelativePessimism, atac.BellmanResidual])
def test_negative_weights_are_named(part):
  with pytest.raises(ValueError, match='weight'):
    part(-1.0)
