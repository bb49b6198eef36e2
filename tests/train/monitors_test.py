"""What tells a healthy run from a sick one, by hand-computed numbers."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.data import offline_dataset, returns
from drvf_tf.losses import backups
from drvf_tf.networks import q_values
from drvf_tf.train import monitors
from tests import fakes


def _dataset(rewards, terminals, episode_ends):
  rows = np.zeros([len(rewards), 1], np.float32)
  return offline_dataset.OfflineDataset(
      rows, rows, np.array(rewards, np.float32), rows, np.array(terminals),
      np.array(episode_ends), 'small', -np.ones(1), np.ones(1))


def test_returns_to_go_end_at_terminals_and_run_on_after_timeouts():
  dataset = _dataset(rewards=[1.0, 2.0, 3.0, 2.0],
                          terminals=[False, True, False, False],
                          episode_ends=[False, True, False, True])
  # The mean reward is 2, for ever 4 at γ = 0.5.
  np.testing.assert_allclose(
      returns.returns_to_go(dataset, 0.5),
      [1 + 0.5 * 2, 2, 3 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4])
  assert returns.mean_return(dataset, 0.5) == pytest.approx((2 + 2 + 5 + 4) / 4)


@pytest.mark.parametrize('rewards, ends, bounds', [
    ([1.0, 3.0], False, (2.0, 6.0)), ([1.0, 3.0], True, (1.0, 6.0)),
    ([-3.0, -1.0], True, (-6.0, -1.0)), ([-3.0, 1.0], False, (-6.0, 2.0))])
def test_the_range_of_values(rewards, ends, bounds):
  dataset = _dataset(rewards=rewards, terminals=[False, ends],
                          episode_ends=[False, True])
  agent = type('Agent', (), {'gamma': 0.5})()
  found = monitors.yardstick(dataset, agent)
  assert (found.lowest, found.highest) == bounds
  assert found.reward == pytest.approx(np.mean(np.abs(rewards)))
  assert (found.members, found.draws) == (1, 1)
  assert monitors.yardstick(dataset, object()) is None


def test_the_penalty_is_what_the_backup_takes_off_the_mean():
  q = q_values.QValues(tf.constant([[[1.0, 5.0]], [[2.0, 4.0]]]),  # [2, 1, 2]
                       tf.constant([[3.0], [3.0]]), tf.ones([2, 1]))
  assert float(backups.penalty(q, backups.minimum)) == 2.0


def test_an_agent_is_monitored_at_three_kinds_of_actions():
  agent = fakes.drvf(backup=lambda q: backups.lcb(q, alpha=2.0),
                           actor_value=lambda q: backups.lcb(q, alpha=2.0))
  batch = fakes.transition()
  found = {name: float(value)
           for name, value in agent.monitor(batch).items()}
  observations, actions = (batch.time_step.observation,
                           batch.action_step.action)
  data = agent.critic_network.uncertainty((observations, actions))
  within = np.mean(np.square(data.std_within))
  assert found['sigma_share'] == pytest.approx(
      within / np.mean(np.square(data.std)), rel=1e-4)
  # An LCB takes 2 std off: the gap is twice that of the stds.
  assert found['penalty_gap_uniform'] == pytest.approx(
      2 * (found['q_std_uniform'] - np.mean(data.std)), abs=1e-4)
  assert found == {name: float(value)
                   for name, value in agent.monitor(batch).items()}


def test_a_row_gets_its_overestimation():
  dataset = _dataset(rewards=[1.0, 3.0], terminals=[False, True],
                          episode_ends=[False, True])
  agent = type('Agent', (), {'gamma': 0.5})()
  add = monitors.Monitors(agent, lambda step: None, dataset)
  assert add(10, {'q_data': 4.0})['overestimation'] == pytest.approx(
      4 - (2.5 + 3) / 2)
  assert add(10, {'loss': 4.0}) == {'loss': 4.0}
