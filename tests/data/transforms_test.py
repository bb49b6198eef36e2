"""Changes to a whole dataset."""
import numpy as np
import pytest

from drvf_tf import data, user_errors
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
  with pytest.raises(user_errors.UserError, match='0 of 3 episodes'):
    transforms.hold_out_episodes(whole, fraction=0.02)


def test_holding_out_comes_last(arrays, tmp_path):
  np.savez(tmp_path / 'mine.npz', **arrays)
  with pytest.raises(user_errors.UserError, match='must be the last'):
    data.load(str(tmp_path / 'mine.npz'), transforms=(
        lambda d: transforms.hold_out_episodes(d, fraction=0.34),
        transforms.affine_reward))
