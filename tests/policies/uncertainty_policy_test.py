"""The policy's statistics, by draws and by hand, and its place in TF-Agents."""
import functools

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import dynamic_step_driver
from tf_agents.environments import random_tf_environment
from tf_agents.policies import greedy_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.losses import backups
from drvf_tf.networks import actor_network, ensemble_critic_network, heads
from drvf_tf.policies import gated_policy, uncertainty_policy
from tests import fakes

_DRAWS = 100_000


def _policy(head, num_samples=1):
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      fakes.CRITIC_SPEC, num_members=3, hidden_units=(16,), head=head, seed=1)
  critic.create_variables()
  rng = np.random.default_rng(2)
  for variable in critic.variables:
    variable.assign_add(rng.normal(0, 0.3, variable.shape))
  actor = actor_network.tanh_gaussian_actor(
      fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, hidden_units=(16,), seed=3)
  actor.create_variables()
  return critic, uncertainty_policy.UncertaintyPolicy(
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, actor, critic, num_samples)


def test_closed_form_agrees_with_posterior_draws():
  critic, policy = _policy(heads.BayesianHead, num_samples=4)
  observations, actions = map(tf.constant, fakes.arrays(4)[:2])
  stats = policy.statistics(observations, actions)
  q, _ = critic((observations, actions), num_samples=_DRAWS,
                seed=tf.constant([1, 2]))
  samples = q.samples.numpy().astype(np.float64)  # [3, 4, draws]
  std = samples.std(axis=(0, 2))
  error = 5 * std / np.sqrt(3 * _DRAWS)  # five standard errors of a mean
  assert (np.abs(stats['q_mean'] - samples.mean(axis=(0, 2))) < error).all()
  assert (np.abs(stats['q_std'] - std) < error).all()
  np.testing.assert_allclose(
      stats['q_std_within'],
      np.sqrt(samples.var(axis=2).mean(axis=0)), rtol=1e-2)
  np.testing.assert_allclose(
      stats['q_std_between'], samples.mean(axis=2).std(axis=0), atol=2e-2)
  np.testing.assert_allclose(
      stats['q_lcb'],
      stats['q_mean'] - backups.lcb_coefficient(12) * stats['q_std'],
      rtol=1e-6)


def test_closed_form_agrees_with_draws_of_point_members():
  critic, policy = _policy(heads.PointHead)
  observations, actions = map(tf.constant, fakes.arrays(4)[:2])
  stats = policy.statistics(observations, actions)
  members = critic((observations, actions))[0].samples[..., 0].numpy()
  drawn = members[np.random.default_rng(0).integers(3, size=_DRAWS)]
  error = 5 * drawn.std(axis=0) / np.sqrt(_DRAWS)
  assert (np.abs(stats['q_mean'] - drawn.mean(axis=0)) < error).all()
  assert (np.abs(stats['q_std'] - drawn.std(axis=0)) < error).all()
  np.testing.assert_array_equal(stats['q_std_within'], np.zeros(4))
  np.testing.assert_allclose(
      stats['q_std_between'], members.std(axis=0), rtol=1e-4)


def test_acts_as_the_agents_greedy_policy_on_normalised_rows(agent, dataset):
  policy = uncertainty_policy.of_agent(agent, dataset)
  raw = (dataset.observations * dataset.observation_std
         + dataset.observation_mean)[:20]
  step = policy.action(ts.restart(tf.constant(raw), 20))
  expected = greedy_policy.GreedyPolicy(agent.policy).action(
      ts.restart(tf.constant(dataset.observations[:20]), 20)).action
  np.testing.assert_allclose(step.action, expected, atol=1e-5)
  assert np.std(step.action, axis=0).min() > 0.01  # not all the same
  again = policy.action(ts.restart(tf.constant(raw), 20), seed=7)
  for name in uncertainty_policy.STATISTICS:
    np.testing.assert_array_equal(step.info[name], again.info[name])


def test_runs_in_a_driver(agent):
  environment = random_tf_environment.RandomTFEnvironment(
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC)
  seen = []
  policy = uncertainty_policy.of_agent(agent)
  dynamic_step_driver.DynamicStepDriver(
      environment, policy, [lambda t: seen.append(t.policy_info) or ()],
      num_steps=3).run()
  assert set(seen[0]) == set(uncertainty_policy.STATISTICS)


def test_samples_are_seeded_and_follow_the_policy(agent, dataset):
  policy = uncertainty_policy.of_agent(agent, dataset)
  one = tf.tile(tf.constant([[5.0, 4.0, 6.0]]), [4_000, 1])
  sample = tf.function(policy.sample, autograph=False)
  first, again, other = (
      sample(one, tf.constant(seed)).numpy() for seed in ([1, 2],) * 2 + (
          [1, 3],))
  np.testing.assert_array_equal(first, again)
  assert (first != other).any()
  normalized = (one[:1] - dataset.observation_mean) / dataset.observation_std
  gaussian = agent.actor_network(normalized)[0].input_distribution
  unsquashed = np.arctanh(np.clip(first, -1 + 1e-6, 1 - 1e-6))
  np.testing.assert_allclose(
      np.median(unsquashed, axis=0), gaussian.mean()[0], atol=0.1)


def test_gate_closes_above_the_threshold(agent):
  policy = uncertainty_policy.of_agent(agent)
  observations = tf.constant(fakes.arrays(8)[0])
  q_std = policy.action(ts.restart(observations, 8)).info['q_std'].numpy()
  threshold = float(np.median(q_std))
  safe = lambda rows: tf.zeros([tf.shape(rows)[0], 2])  # noqa: E731
  gated = gated_policy.GatedPolicy(policy, threshold, safe)
  found = gated.action(ts.restart(observations, 8))
  np.testing.assert_array_equal(found.info['in_support'], q_std <= threshold)
  closed = q_std > threshold
  np.testing.assert_array_equal(found.action.numpy()[closed], 0)
  own = policy.greedy(observations).numpy()
  np.testing.assert_array_equal(found.action.numpy()[~closed], own[~closed])


def test_gate_closes_for_inputs_that_are_not_finite(agent):
  gated = gated_policy.GatedPolicy(uncertainty_policy.of_agent(agent))
  rows = tf.constant([[0, 0, 0], [0, np.nan, 0], [np.inf, 0, 0]], tf.float32)
  np.testing.assert_array_equal(
      gated.act(rows)['in_support'], [True, False, False])
  actions = tf.constant([[0, 0], [0, np.nan], [0, -np.inf]], tf.float32)
  np.testing.assert_array_equal(
      gated.score(tf.zeros([3, 3]), actions)['in_support'],
      [True, False, False])


def test_agent_without_an_ensemble_is_named():
  agent = functools.partial(print)
  with pytest.raises(errors.UserError, match='no ensemble critic'):
    uncertainty_policy.of_agent(agent)
