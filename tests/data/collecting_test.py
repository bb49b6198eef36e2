"""Data made by acting."""
import hashlib

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.policies import policy_saver, tf_policy
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step

from drvf_tf import data, envs, errors
from drvf_tf.data import collecting, files, waypoints
from drvf_tf.envs import d4rl_tasks
from drvf_tf.policies import loading


class _Constant(tf_policy.TFPolicy):
  """Always the same action."""

  def _distribution(self, time_step, policy_state):
    raise NotImplementedError

  def _action(self, time_step, policy_state, seed):
    rows = tf.shape(time_step.observation)[0]
    return policy_step.PolicyStep(
        tf.fill([rows, self.action_spec.shape[0]], 0.5), policy_state)

  def _variables(self):
    return []


@pytest.fixture(name='policy')
def _policy(tmp_path):
  env = envs.load('hopper-medium-v2', seed=0)
  policy = _Constant(tensor_spec.from_spec(env.time_step_spec()),
                     tensor_spec.from_spec(env.action_spec()))
  policy_saver.PolicySaver(policy).save(str(tmp_path / 'policy'))
  return loading.load(tmp_path / 'policy').policy


def test_waypoints_are_seeded_and_relabelled(tmp_path):
  first, second, other = (waypoints.collect('maze2d-umaze-v1', 1500, seed)
                          for seed in (0, 0, 1))
  digests = []
  for number, arrays in enumerate((first, second)):
    path = tmp_path / f'{number}.hdf5'
    files.write(path, arrays, note='')
    digests.append(hashlib.sha256(path.read_bytes()).hexdigest())
  assert digests[0] == digests[1]
  assert (first['actions'] != other['actions']).any()
  goal = d4rl_tasks.make('maze2d-umaze-v1').get_target()
  distance = np.linalg.norm(first['next_observations'][:, :2] - goal, axis=1)
  np.testing.assert_array_equal(first['rewards'], distance <= 0.5)
  assert not first['terminals'].any()
  # A timeout is where the target changes, and nowhere else.
  changes = (np.diff(first['infos/goal'], axis=0) != 0).any(axis=1)
  np.testing.assert_array_equal(first['timeouts'][:-1], changes)
  # The walk goes on: there is no reset between targets.
  np.testing.assert_array_equal(
      first['observations'][1:], first['next_observations'][:-1])


def test_what_the_planner_is_spared_changes_no_row(monkeypatch):
  """Without the memory it plans every target anew; there are many in this."""
  quick = waypoints.collect('maze2d-umaze-v1', 3000, 1, action_noise=0.5)
  monkeypatch.setattr(waypoints, '_remember_matrices', lambda grid: None)
  plain = waypoints.collect('maze2d-umaze-v1', 3000, 1, action_noise=0.5)
  assert len(np.unique(quick['infos/goal'], axis=0)) > 3
  for key, rows in plain.items():
    np.testing.assert_array_equal(quick[key], rows)


def test_waypoints_leave_the_global_generator():
  np.random.seed(3)
  expected = np.random.RandomState(3).uniform()
  waypoints.collect('maze2d-umaze-v1', 20, seed=0, action_noise=0.1)
  assert np.random.uniform() == expected


def test_waypoints_need_a_maze():
  with pytest.raises(errors.UserError, match='is not a maze2d task'):
    waypoints.collect('hopper-medium-v2', 10, seed=0)


def test_random_data_load(tmp_path):
  arrays = [collecting.collect(
      'hopper-random-v2', collecting.random_actor('hopper-random-v2', 2), 200,
      seed=2) for _ in range(2)]
  for key, value in arrays[0].items():
    np.testing.assert_array_equal(value, arrays[1][key])
  files.write(tmp_path / 'random.hdf5', arrays[0], note='')
  dataset = data.load(str(tmp_path / 'random.hdf5'), task='hopper-random-v2')
  assert dataset.size == 200
  assert dataset.terminals.sum() > 1
  inside = ~dataset.episode_ends[:-1]
  np.testing.assert_array_equal(dataset.observations[1:][inside],
                                dataset.next_observations[:-1][inside])


def test_saved_policy_with_noise(policy):
  def act(noise, seed=0):
    actor = collecting.policy_actor(
        policy, 'hopper-medium-v2', seed, noise)
    return collecting.collect('hopper-medium-v2', actor, 60, seed)['actions']
  np.testing.assert_array_equal(act(0.), np.full((60, 3), 0.5, np.float32))
  noisy = act(0.5)
  np.testing.assert_array_equal(noisy, act(0.5))
  assert 0.2 < noisy.std() < 0.6
  assert np.abs(noisy).max() <= 1.


def test_a_policy_of_another_task_is_named(policy):
  with pytest.raises(errors.UserError,
                     match=r'takes observations \(11,\).*name the task'):
    collecting.policy_actor(policy, 'walker2d-medium-v2', 0, 0.)


@pytest.mark.parametrize('ends, words', [
    ([0, 1, 0, 1], '2 whole episodes'), ([0, 1], '1 whole episode'),
    ([0, 1, 0], '2 episodes (1 whole, the last cut off by the end of the '
     'recording)'),
    ([0, 0], '1 episode (0 whole, the last cut off by the end of the '
     'recording)')])
def test_episodes_in_words(ends, words):
  arrays = {'terminals': np.zeros(len(ends), bool),
            'timeouts': np.array(ends, bool)}
  assert collecting.episodes_in_words(arrays) == words
