"""Ends of episodes."""
import numpy as np

from drvf_tf.data import episodes


def test_no_next_observation_across_episodes(arrays):
  found = episodes.to_transitions(arrays, max_episode_steps=1000)
  observations = arrays['observations']
  # Row 7 timed out and row 9 ends the file: their next states are unknown.
  kept = [0, 1, 2, 3, 4, 5, 6, 8]
  np.testing.assert_array_equal(found['observations'], observations[kept])
  following = [1, 2, 3, 3, 5, 6, 7, 9]  # a terminal keeps its own state
  np.testing.assert_array_equal(
      found['next_observations'], observations[following])
  np.testing.assert_array_equal(found['rewards'], kept)
  np.testing.assert_array_equal(np.flatnonzero(found['terminals']), [3])
  np.testing.assert_array_equal(np.flatnonzero(found['episode_ends']),
                                [3, 6, 7])


def test_recorded_next_observations_keep_every_row(arrays):
  arrays['next_observations'] = arrays['observations'] + 1
  found = episodes.to_transitions(arrays, max_episode_steps=1000)
  np.testing.assert_array_equal(
      found['next_observations'], arrays['observations'] + 1)
  np.testing.assert_array_equal(np.flatnonzero(found['episode_ends']),
                                [3, 7, 9])
  assert not found['terminals'][7]  # a timeout is no terminal


def test_v0_files_time_out_by_length(arrays):
  del arrays['timeouts']
  found = episodes.to_transitions(arrays, max_episode_steps=3)
  # Episodes: 0-2 timed out, 3 terminal, 4-6 timed out, 7-9 timed out.
  np.testing.assert_array_equal(found['rewards'], [0, 1, 3, 4, 5, 7, 8])
  np.testing.assert_array_equal(np.flatnonzero(found['episode_ends']),
                                [1, 2, 4, 6])


def test_one_row_episodes(arrays):
  arrays['timeouts'][:] = True
  arrays['terminals'][:] = False
  assert not len(episodes.to_transitions(arrays, None)['rewards'])


def test_statistics_keep_every_row(arrays):
  found = episodes.to_transitions(arrays, 1000, drop_unknown_next=False)
  np.testing.assert_array_equal(found['rewards'], np.arange(10))
  np.testing.assert_array_equal(np.flatnonzero(found['episode_ends']),
                                [3, 7, 9])


def test_a_row_that_is_both_ends_as_a_terminal(arrays):
  arrays['timeouts'][3] = True
  found = episodes.to_transitions(arrays, max_episode_steps=1000)
  assert found['terminals'][3] and 3 in found['rewards']
