"""Changes to a whole dataset."""
import numpy as np
import pytest

from drvf_tf import data, errors
from drvf_tf.data import transforms


def test_affine_reward_is_antmazes(arrays):
  arrays['rewards'] = np.array([0, 1] * 5, np.float32)
  dataset = transforms.affine_reward(data.from_arrays(arrays, 'mine'))
  np.testing.assert_array_equal(dataset.rewards[:4], [-2, 2, -2, 2])
  assert dataset.rewards.dtype == np.float32


def test_normalised_observations_can_be_undone(arrays):
  raw = data.from_arrays(arrays, 'mine')
  dataset = transforms.normalize_observations(raw, epsilon=0.)
  np.testing.assert_allclose(dataset.observations.mean(axis=0), 0, atol=1e-6)
  np.testing.assert_allclose(dataset.observations.std(axis=0), 1, rtol=1e-5)
  for key in ('observations', 'next_observations'):
    np.testing.assert_allclose(
        getattr(dataset, key) * dataset.observation_std
        + dataset.observation_mean, getattr(raw, key), atol=1e-5)
  with pytest.raises(ValueError, match='normalised already'):
    transforms.normalize_observations(dataset)


def test_returns_are_normalised_to_their_range(arrays):
  raw = data.from_arrays(arrays, 'mine')
  dataset = transforms.normalize_returns(raw, scale=10.)
  returns = dataset.episode_returns()
  np.testing.assert_allclose(returns.max() - returns.min(), 10., rtol=1e-5)
  assert np.argmax(returns) == np.argmax(raw.episode_returns())
  with pytest.raises(errors.UserError, match='the same return'):
    transforms.normalize_returns(raw.replace(rewards=np.zeros_like(
        raw.rewards)))


def test_best_episodes_are_whole_and_in_order():
  # Five episodes of two rows, with returns 2, 10, 6, 10, 0.
  rewards = np.array([1, 1, 5, 5, 3, 3, 10, 0, 0, 0], np.float32)
  whole = data.from_arrays({
      'observations': np.arange(10.)[:, None] * np.ones([1, 2]),
      'next_observations': np.arange(10.)[:, None] * np.ones([1, 2]) + 0.5,
      'actions': np.zeros([10, 1]), 'rewards': rewards,
      'terminals': np.zeros(10, bool),
      'timeouts': np.arange(10) % 2 == 1}, 'mine')
  for fraction, rows in ((0.1, [2, 3]), (0.4, [2, 3, 6, 7]),
                         (0.6, [2, 3, 4, 5, 6, 7]), (1.0, range(10))):
    dataset = transforms.best_episodes(whole, fraction)
    np.testing.assert_array_equal(dataset.observations[:, 0], rows)
    np.testing.assert_array_equal(dataset.rewards, rewards[list(rows)])
    assert dataset.num_episodes == len(rows) / 2
  for fraction in (0.0, 1.1):
    with pytest.raises(errors.UserError, match='best_episodes.fraction'):
      transforms.best_episodes(whole, fraction)


def test_a_methods_transforms_come_before_the_tasks(arrays, tmp_path):
  np.savez(tmp_path / 'mine.npz', **arrays)
  seen = []

  def first(dataset):
    seen.append(dataset.rewards)
    return dataset

  dataset = data.load(
      str(tmp_path / 'mine.npz'), transforms=(transforms.affine_reward,),
      method_transforms=(first,))
  np.testing.assert_allclose(dataset.rewards, 4 * (seen[0] - 0.5))


def test_held_out_episodes_are_whole_and_not_trained_on(arrays):
  whole = data.from_arrays(arrays, 'mine')  # three episodes
  dataset = transforms.hold_out_episodes(whole, fraction=0.34)
  held_out = dataset.held_out
  assert held_out.num_episodes == 1 and dataset.num_episodes == 2
  assert held_out.size + dataset.size == whole.size
  rows = {row.tobytes() for row in dataset.observations}
  assert not any(row.tobytes() in rows for row in held_out.observations)
  assert held_out.episode_ends[-1] and dataset.episode_ends[-1]
  again = transforms.hold_out_episodes(whole, fraction=0.34)
  assert again.hash() == dataset.hash()
  with pytest.raises(errors.UserError, match='0 of 3 episodes'):
    transforms.hold_out_episodes(whole, fraction=0.02)


@pytest.mark.parametrize('recorded', [False, True])
def test_next_actions_never_span_two_episodes(arrays, recorded):
  # Row 3 is a terminal, row 7 a timeout, row 9 the end of the recording.
  if recorded:
    arrays['next_observations'] = arrays['observations'] + 1
  dataset = transforms.next_actions(data.from_arrays(arrays, 'mine'))
  # Without next observations rows 7 and 9 are not there, nor are their actions.
  rows = [0, 1, 2, 3, 4, 5, 6, 8] if recorded else [0, 1, 2, 3, 4, 5]
  following = [1, 2, 3, 3, 5, 6, 7, 9] if recorded else [1, 2, 3, 3, 5, 6]
  np.testing.assert_array_equal(dataset.rewards, rows)
  np.testing.assert_array_equal(
      dataset.next_actions, arrays['actions'][following])
  np.testing.assert_array_equal(
      np.flatnonzero(dataset.episode_ends), [3, 6, 7] if recorded else [3, 5])
  assert dataset.cut_off
  assert dataset.hash() != dataset.replace(next_actions=None).hash()
  part = transforms.hold_out_episodes(dataset, fraction=0.5)
  assert len(part.next_actions) == part.size
  assert len(part.held_out.next_actions) == part.held_out.size


def test_no_next_action_at_all_is_said(arrays):
  arrays['next_observations'] = arrays['observations']
  arrays['timeouts'][:], arrays['terminals'][:] = True, False
  with pytest.raises(errors.UserError, match='No row of mine has a next'):
    transforms.next_actions(data.from_arrays(arrays, 'mine'))


def test_holding_out_comes_last(arrays, tmp_path):
  np.savez(tmp_path / 'mine.npz', **arrays)
  with pytest.raises(errors.UserError, match='must be the last'):
    data.load(str(tmp_path / 'mine.npz'), transforms=(
        lambda d: transforms.hold_out_episodes(d, fraction=0.34),
        transforms.affine_reward))
