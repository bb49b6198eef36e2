"""Changes to a whole dataset."""
import numpy as np
import pytest

from drvf_tf import data
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
