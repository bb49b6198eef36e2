"""Changes to a whole dataset, chosen in gin."""
import numpy as np

from drvf_tf.data import offline_dataset
import gin


@gin.configurable
def affine_reward(dataset: offline_dataset.OfflineDataset,
                  scale: float = 4., offset: float = 0.5,
                  ) -> offline_dataset.OfflineDataset:
  """scale (r - offset); the default is AntMaze's 4 (r - 0.5)."""
  rewards = np.float32(scale) * (dataset.rewards - np.float32(offset))
  return dataset.replace(rewards=rewards)


@gin.configurable
def normalize_observations(dataset: offline_dataset.OfflineDataset,
                           epsilon: float = 1e-3,
                           ) -> offline_dataset.OfflineDataset:
  """(s - mean) / (std + epsilon), with the dataset's own mean and std.

  The environment keeps giving raw observations: mean and std stay with the
  dataset, for the policy to own and to apply.
  """
  if dataset.observation_mean is not None:
    raise ValueError('the observations are normalised already')
  mean = dataset.observations.mean(axis=0, dtype=np.float64)
  std = dataset.observations.std(axis=0, dtype=np.float64) + epsilon
  mean, std = mean.astype(np.float32), std.astype(np.float32)
  return dataset.replace(
      observations=(dataset.observations - mean) / std,
      next_observations=(dataset.next_observations - mean) / std,
      observation_mean=mean, observation_std=std)
