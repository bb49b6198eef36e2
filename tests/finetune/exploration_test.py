"""Collection policies by numbers computed by hand."""
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.trajectories import time_step as ts

from drvf_tf.finetune import exploration, online_batches
from drvf_tf.networks import noise
from tests import fakes


class _Critic:
  """Two members: Q_1 = a, Q_2 = −a; the spread is |a|, plus 1 at |a| > 2."""

  def draw(self, observation, action, seed):
    """[M, N]."""
    del observation, seed
    return tf.stack([action[:, 0], -action[:, 0]])

  def statistics(self, observation, action):
    """q_mean = 2 − a, q_std = |a|."""
    del observation
    return {'q_mean': 2.0 - action[:, 0], 'q_std': tf.abs(action[:, 0])}


class _View(exploration.View):
  """Whose actor gives 0 and then −1, 3, 2."""

  def __init__(self, episode):
    super().__init__(None, tf.zeros([1, 3]), 7, tf.constant(episode),
                     tf.constant(0))

  def greedy(self):
    """[1, act]."""
    return tf.zeros([1, 1])

  def samples(self, count):
    """[count, act]."""
    return tf.constant([[-1.0], [3.0], [2.0]])[:count]

  def _uncertainty(self):
    return _Critic()


def test_the_posterior_follows_one_member_through_an_episode():
  """Member 1 wants the largest of 0, −1, 3, 2, member 2 the smallest."""
  chosen = []
  for episode in range(40):
    view = _View(episode)
    again = _View(episode)
    action = exploration.posterior(view, num_actions=4)
    assert action.shape == [1, 1]
    assert action == exploration.posterior(again, num_actions=4)
    chosen.append(float(action))
  assert set(chosen) == {3.0, -1.0}
  assert 8 < chosen.count(3.0) < 32  # each member half of the time


@pytest.mark.parametrize('bonus, expected', [
    (0.0, -1.0),  # 2 − a: 2, 3, −1, 0
    (1.0, -1.0),  # plus |a|: 2, 4, 2, 2
    (3.0, 3.0)])  # plus 3 |a|: 2, 6, 8, 6
def test_the_upper_confidence_bound(bonus, expected):
  action = exploration.optimistic(_View(0), num_actions=4, bonus=bonus)
  np.testing.assert_allclose(action, [[expected]])


def _policy(choice, **kwargs):
  return exploration.ExplorationPolicy(fakes.drvf(), choice, seed=3, **kwargs)


def _act(policy, state, step_type=ts.StepType.MID, observation=0.5):
  step = ts.TimeStep(
      tf.constant([step_type]), tf.zeros([1]), tf.ones([1]),
      tf.fill([1, 3], observation))
  return policy.action(step, tf.constant([state], tf.int32))


def test_the_state_counts_episodes_and_steps():
  policy = _policy(exploration.greedy)
  step = _act(policy, [0, 0], ts.StepType.FIRST)
  np.testing.assert_array_equal(step.state, [[1, 0]])
  step = _act(policy, [1, 0])
  np.testing.assert_array_equal(step.state, [[1, 1]])
  step = _act(policy, [1, 1], ts.StepType.FIRST)
  np.testing.assert_array_equal(step.state, [[2, 0]])


def test_noise_is_a_function_of_episode_and_step():
  policy = _policy(exploration.actor_samples)
  action = _act(policy, [1, 4]).action
  np.testing.assert_array_equal(action, _act(policy, [1, 4]).action)
  assert not np.allclose(action, _act(policy, [1, 5]).action)
  assert not np.allclose(action, _act(policy, [2, 4]).action)
  np.testing.assert_array_equal(
      _act(_policy(exploration.greedy), [1, 4]).action,
      _act(_policy(exploration.greedy), [2, 9]).action)


def test_a_draw_is_a_function_for_the_whole_episode():
  """The weights of an episode's draw do not depend on the step in it."""
  agent = fakes.drvf()
  policy = exploration.ExplorationPolicy(agent, exploration.greedy, seed=3)
  actions = tf.constant([[0.1, 0.2], [0.3, -0.4]])
  early, late, other = (exploration.View(
      policy.inner, tf.ones([1, 3]), 3, tf.constant(episode),
      tf.constant(step)).drawn_value(actions)
                        for episode, step in ((1, 0), (1, 9), (2, 0)))
  np.testing.assert_array_equal(early, late)
  assert not np.allclose(early, other)
  q, _ = agent.critic_network(
      (tf.ones([2, 3]), actions), num_samples=1,
      seed=noise.fold(3, exploration._EPISODE, 1))
  assert any(np.allclose(early, member) for member in q.samples[..., 0])


def test_noise_has_the_size_asked_for_and_stays_in_bounds():
  policy = _policy(exploration.noisy)
  greedy = _act(_policy(exploration.greedy), [1, 0]).action
  noises = np.array([_act(policy, [1, t]).action - greedy
                     for t in range(40)])
  assert 0.07 < noises.std() < 0.13
  wild = _policy(lambda view: exploration.noisy(view, std=100.0))
  assert (np.abs(_act(wild, [1, 0]).action) <= 1.0).all()


def test_the_gate_falls_back():
  choice = lambda view: tf.ones([1, 2])  # noqa: E731
  fallback = lambda view: -tf.ones([1, 2])  # noqa: E731
  policy = _policy(choice, fallback=fallback)
  step = _act(policy, [1, 0])
  np.testing.assert_array_equal(step.action, [[1, 1]])
  q_std = float(step.info['q_std'])
  policy.threshold.assign(0.5 * q_std)
  step = _act(policy, [1, 0])
  np.testing.assert_array_equal(step.action, [[-1, -1]])
  assert not step.info['in_support'][0]
  assert float(step.info['q_std']) == q_std  # why the gate is closed
  policy = _policy(choice)  # without a fallback it only says so
  policy.threshold.assign(0.5 * q_std)
  step = _act(policy, [1, 0])
  np.testing.assert_array_equal(step.action, [[1, 1]])
  assert not step.info['in_support'][0]


def test_the_share_falls_and_stays():
  share = [float(online_batches.linear_share(
      tf.constant(step, tf.int64), first=1.0, last=0.25, steps=100))
           for step in (0, 50, 100, 1_000)]
  np.testing.assert_allclose(share, [1.0, 0.625, 0.25, 0.25])


def test_the_buffer_grows_and_gives_every_row():
  buffer = online_batches._Buffer(width=2, size=3)
  rows = np.arange(20, dtype=np.float32).reshape(10, 2)
  buffer.add(rows[:2])
  drawn = tf.function(buffer.draw)(400, tf.constant([1, 2]))
  assert set(drawn.numpy()[:, 0]) == {0.0, 2.0}
  buffer.add(rows[2:])
  drawn = tf.function(buffer.draw)(400, tf.constant([1, 2])).numpy()
  assert {tuple(row) for row in drawn} == {tuple(row) for row in rows}
