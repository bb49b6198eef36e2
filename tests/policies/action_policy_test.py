"""Exports of agents without an ensemble critic: actions, and nothing else."""
import gin
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.policies import greedy_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.agents import build_baselines
from drvf_tf.policies import (
  action_policy,
  checking,
  exporting,
  lite,
  loading,
  policy_snapshot,
)
from tests import fakes


def _agent(builder):
  gin.bind_parameter('baseline_actor.hidden_units', (8,))
  gin.bind_parameter('baseline_critic.hidden_units', (8,))
  return builder(fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0)


@pytest.mark.parametrize('builder, stochastic', [
    (build_baselines.build_bc, False), (build_baselines.build_td3_bc, False),
    (build_baselines.build_iql, True), (build_baselines.build_cql, True)])
def test_an_export_gives_the_agents_actions_and_no_statistics(
    builder, stochastic, dataset, tmp_path):
  agent = _agent(builder)
  folder = tmp_path / 'policy'
  policy_snapshot.save(agent, dataset, folder, '', {'task': 'mine'})
  facts = loading.read_facts(str(folder))
  assert facts['support'] is None and facts['lcb_alpha'] is None
  assert facts['no_statistics'].startswith(
      f'{type(agent).__name__} has no ensemble critic')
  model = tf.saved_model.load(str(folder))
  assert 'q_stats' not in model.signatures
  assert set(model.signatures['serving_default'](
      observation=tf.ones([3, 3]))) == {'action'}

  raw = (dataset.observations * dataset.observation_std
         + dataset.observation_mean)[:20]
  greedy = loading.load(folder).act(raw)
  expected = greedy_policy.GreedyPolicy(agent.policy).action(
      ts.restart(tf.constant(dataset.observations[:20]), 20)).action
  np.testing.assert_allclose(greedy, expected, atol=1e-5)
  assert np.std(greedy) > 0 or builder is build_baselines.build_cql

  draws = [model.signatures['sample_action'](
      observation=tf.constant(raw), seed=tf.constant([0, i]))['action'].numpy()
           for i in (1, 1, 2)]
  np.testing.assert_array_equal(draws[0], draws[1])
  assert np.array_equal(draws[0], draws[2]) != stochastic
  assert np.abs(draws[0]).max() <= 1.0
  if not stochastic:
    np.testing.assert_array_equal(draws[0], greedy)


def test_a_stranger_gets_the_agents_actions(dataset, tmp_path):
  agent = _agent(build_baselines.build_iql)
  exporting.export_policy(agent, str(tmp_path / 'policy'), dataset)
  differences = checking.check(str(tmp_path / 'policy'), agent, dataset)
  assert set(differences) == {'serving_default/action', 'sample_action/action'}
  path = lite.write(str(tmp_path / 'policy'), str(tmp_path / 'lite'))
  assert list(checking.check(str(path), agent, dataset)) == [
      'serving_default/action']


def test_a_missing_output_is_told(dataset, tmp_path, monkeypatch):
  agent = _agent(build_baselines.build_bc)
  monkeypatch.setattr(checking, '_stranger', lambda model, inputs, python: {
      'sample_action/action': checking.live(agent, dataset, inputs)[
          'sample_action/action']})
  with pytest.raises(errors.UserError,
                     match='policy has no serving_default: export it'):
    checking.check('policy', agent, dataset)


def test_a_fallback_needs_a_gate(dataset, tmp_path):
  agent = _agent(build_baselines.build_bc)
  with pytest.raises(errors.UserError, match='BcAgent has no ensemble'):
    exporting.export_policy(agent, str(tmp_path / 'policy'), dataset,
                            fallback=lambda observation: observation)
  assert not (tmp_path / 'policy').exists()


def test_a_gaussian_is_sampled_and_clipped():
  import tensorflow_probability as tfp
  gaussian = tfp.distributions.MultivariateNormalDiag(
      tf.constant([[0.0, 0.9]] * 2000), tf.constant([0.1, 0.5]))
  drawn = action_policy.sample(
      gaussian, fakes.ACTION_SPEC, tf.constant([1, 2])).numpy()
  np.testing.assert_allclose(drawn[:, 0].std(), 0.1, rtol=0.1)
  assert drawn[:, 1].max() == 1.0 and drawn[:, 1].min() < 0.0
