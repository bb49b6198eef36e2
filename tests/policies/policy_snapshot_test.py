"""The greedy policy in NumPy is the greedy policy of TF-Agents."""
import numpy as np
import pytest

from drvf_tf.agents import agent_parts, build_baselines
from drvf_tf.data import offline_dataset
from drvf_tf.policies import policy_snapshot
from tests import fakes


def _dataset(normalised):
  random = np.random.RandomState(0)
  size = 6
  ends = np.zeros(size, bool)
  ends[-1] = True
  return offline_dataset.OfflineDataset(
      observations=random.normal(size=[size, 3]).astype(np.float32),
      actions=np.zeros([size, 2], np.float32),
      rewards=np.zeros(size, np.float32),
      next_observations=np.zeros([size, 3], np.float32),
      terminals=np.zeros(size, bool), episode_ends=ends, name='x',
      action_low=-np.ones(2, np.float32), action_high=np.ones(2, np.float32),
      observation_mean=np.array([1, 2, 3], np.float32) if normalised else None,
      observation_std=np.array([1, .5, 2], np.float32) if normalised else None)


def _baseline(builder):
  return builder(fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0)


@pytest.mark.parametrize('make', [
    lambda: fakes.drvf(num_members=2, hidden_units=(8, 8)),
    lambda: fakes.drvf(num_members=2, hidden_units=(8, 8), acting_tau=0.1),
    lambda: _baseline(build_baselines.build_bc),
    lambda: _baseline(build_baselines.build_td3_bc),
    lambda: _baseline(build_baselines.build_iql),
    lambda: _baseline(build_baselines.build_cql)])
def test_numpy_agrees_with_tensorflow(make):
  agent = make()
  acting = agent_parts.acting_network(agent)
  for variable in acting.variables:  # away from tiny actions
    variable.assign(variable + 0.3 * np.random.RandomState(
        variable.shape.num_elements()).normal(size=variable.shape))
  observations = np.random.RandomState(1).normal(size=[5, 3]).astype(
      np.float32)
  for normalised in (False, True):
    policy = policy_snapshot.greedy(agent, _dataset(normalised))
    actor = policy.snapshot()
    actions = policy.act(observations)
    assert np.abs(actions).max() > 0.1
    np.testing.assert_allclose(
        [actor(row) for row in observations], actions, atol=1e-5)


def test_a_snapshot_does_not_follow_the_agent():
  agent = fakes.drvf(num_members=2, hidden_units=(8,))
  actor = policy_snapshot.greedy(agent, _dataset(False)).snapshot()
  before = actor(np.ones(3, np.float32))
  for variable in agent.actor_network.variables:
    variable.assign(variable + 1.0)
  np.testing.assert_array_equal(actor(np.ones(3, np.float32)), before)


def test_an_actor_of_another_form_has_no_snapshot():
  class Other:
    """An agent without an actor network."""
    policy = fakes.drvf(num_members=2, hidden_units=(8,)).policy

  assert policy_snapshot.greedy(Other(), _dataset(False)).snapshot() is None
