"""UWAC's passes, by hand."""
import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.networks import noise
from drvf_tf.runs import configuration
from tests import fakes

_SIZES = ['EnsembleCriticNetwork.hidden_units=(8, 8)',
          'tanh_gaussian_actor.hidden_units=(8, 8)',
          'BehaviourVae.hidden_units=(8, 8)', 'UwacAgent.num_masks=5',
          'UwacAgent.num_target_actions=3', 'UwacAgent.warm_up_steps=1']


def _agent(*bindings):
  configuration.parse(['gin/hopper_medium.gin', 'gin/baselines/uwac.gin'],
                      [*_SIZES, *bindings])
  agent = gin.get_bindings('train_eval')['agent'](
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0, seed=7)
  rng = np.random.default_rng(0)
  for variable in agent.trainable_variables:  # or Q is 0 everywhere
    variable.assign_add(rng.normal(0, 0.3, variable.shape))
  return agent


def _draws(step=0):
  return noise.Draws.at_step(7, tf.constant(step, tf.int64))


def test_targets_are_the_best_action_and_weights_the_least_sure():
  agent, step = _agent(), fakes.transition().next_time_step
  found = agent._weighted_targets(step, None, _draws())
  draws = _draws()
  distribution = agent.actor_network(step.observation)[0]
  actions, _ = noise.sample_actions(distribution, draws.normal([3, 8, 2]))
  q, _ = agent.target_critic_network(
      (tf.tile(step.observation, [3, 1]), tf.reshape(actions, [24, 2])),
      num_samples=5, seed=draws.seed())
  samples = q.samples.numpy().reshape(2, 3, 8, 5)  # [M, A, B, n]
  means, variances = samples.mean(axis=3), samples.var(axis=3)
  value = np.max(0.75 * means.min(axis=0) + 0.25 * means.max(axis=0), axis=0)
  np.testing.assert_allclose(
      found.values[0], step.reward + 0.99 * step.discount * value,
      rtol=1e-4, atol=1e-5)
  weight = np.exp(-0.5 * np.max(variances.sum(axis=0), axis=0))
  assert np.ptp(weight) > 0.01
  np.testing.assert_allclose(found.weights, weight**2, rtol=1e-4)
  np.testing.assert_allclose(found.metrics['td_weight'], weight.mean(),
                             rtol=1e-4)
  twice = agent._weighted_targets(step, tf.fill([8], 2.0), _draws())
  np.testing.assert_allclose(twice.weights, 2 * weight**2, rtol=1e-4)


def test_the_bellman_error_is_weighted_and_has_one_mask():
  agent, batch = _agent(), fakes.transition()
  targets = agent._weighted_targets(batch.next_time_step, None, _draws())
  draws = _draws()
  draws.normal([3, 8, 2]), draws.seed()  # the target's
  q, = agent.critic_network.evaluate(
      [(batch.time_step.observation, batch.action_step.action)], 1,
      draws.seed())
  expected = np.mean(targets.weights * np.sum(
      (q.samples[..., 0] - targets.values)**2, axis=0))
  np.testing.assert_allclose(
      agent.loss(batch).extra['td_loss'], expected, rtol=1e-4)


def test_no_gradient_flows_into_targets():
  agent, step = _agent(), fakes.transition().next_time_step
  with tf.GradientTape() as tape:
    found = agent._weighted_targets(step, None, _draws())
    loss = tf.reduce_sum(found.values) + tf.reduce_sum(found.weights)
  assert all(g is None for g in tape.gradient(loss, agent.trainable_variables))


@pytest.mark.parametrize('step', [0, 1])
def test_the_actors_objective_before_and_after_its_warm_up(step):
  agent, batch = _agent(), fakes.transition()
  agent.train_step_counter.assign(step)
  agent._log_alpha.assign(0.3)
  actor = agent._actor_pass(
      batch.time_step, batch.action_step.action, None, _draws())
  draws, observations = _draws(), batch.time_step.observation
  drawn = draws.normal([4, 8, 2])
  own, _ = noise.sample_actions(
      agent.actor_network(observations)[0], drawn[0])
  draws.seed()  # the VAE's
  q, _ = agent.critic_network((observations, own), num_samples=5,
                              seed=draws.seed())
  samples = q.samples.numpy()  # [M, B, n]
  weight = np.exp(-0.5 * samples.var(axis=2).sum(axis=0))
  expected = np.exp(0.3) * actor.excess.numpy()
  if step:
    expected = expected - weight * samples.mean(axis=2).min(axis=0)
  np.testing.assert_allclose(actor.loss, expected.mean(), rtol=1e-4)
  np.testing.assert_allclose(
      actor.excess.numpy().mean() + 0.07, actor.metrics['mmd'], rtol=1e-4)


def test_samples_of_the_vae_are_of_their_own_states():
  agent = _agent()
  observations = fakes.transition().time_step.observation
  found = agent._behaviour(observations, _draws())
  latents = np.clip(_draws().normal([4, 8, 4]), -0.5, 0.5)
  for k in range(4):
    np.testing.assert_allclose(
        found[k], agent._vae.decode(observations, latents[k]), rtol=1e-4,
        atol=1e-6)


@pytest.mark.parametrize('threshold, rises', [(0.0, True), (5.0, False)])
def test_the_dual_variable_answers_to_the_constraint(threshold, rises):
  agent = _agent(f'UwacAgent.mmd_threshold={threshold}')
  before = float(agent._log_alpha)
  agent.train(fakes.transition())
  moved = float(agent._log_alpha) - before
  assert moved == pytest.approx(1e-3 if rises else -1e-3, rel=1e-2)


def test_the_vae_learns_what_the_data_do():
  agent, (step, action_step, _) = _agent(), fakes.transition()
  optimizer = tf.keras.optimizers.legacy.Adam(0.01)
  loss = tf.function(
      lambda: agent._vae_pass(step, action_step.action, None),
      autograph=False)
  first = float(loss())
  for _ in range(60):
    optimizer.minimize(loss, agent._vae.trainable_variables)
  assert float(loss()) < 0.6 * first


@pytest.mark.parametrize('binding, match', [
    ('UwacAgent.beta=-1.0', 'beta'),
    ('UwacAgent.num_mmd_actions=0', 'num_mmd_actions'),
    ('UwacAgent.num_target_actions=0', 'num_target_actions'),
    ('EnsembleCriticNetwork.layer_norm=True', 'spectral_norm or layer_norm')])
def test_bad_values_are_named(binding, match):
  with pytest.raises(ValueError, match=match):
    _agent(binding)
