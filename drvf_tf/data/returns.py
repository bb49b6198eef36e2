"""What the data's own rewards say that a pair is worth."""
import gin
import numpy as np

from drvf_tf.data import offline_dataset


def returns_to_go(dataset: offline_dataset.OfflineDataset,
                  gamma: float) -> np.ndarray:
  """Discounted sum of rewards from each row to its episode's end, [size].

  What would have followed a timeout was not recorded: it counts as the mean
  reward of the data for ever. After a terminal state nothing follows.
  """
  beyond = float(dataset.rewards.mean(dtype=np.float64)) / (1.0 - gamma)
  result = np.empty(dataset.size, np.float64)
  for rows in dataset.episodes():
    value = 0.0 if dataset.terminals[rows.stop - 1] else beyond
    returns = []
    for reward in dataset.rewards[rows][::-1].tolist():
      value = reward + gamma * value
      returns.append(value)
    result[rows] = returns[::-1]
  return result


@gin.configurable
def zero(dataset: offline_dataset.OfflineDataset, gamma: float) -> float:
  """Where Q starts: at 0, as the paper has it."""
  del dataset, gamma
  return 0.0


@gin.configurable
def mean_return(dataset: offline_dataset.OfflineDataset,
                gamma: float) -> float:
  """Where Q starts: at the mean return-to-go of the data."""
  return float(returns_to_go(dataset, gamma).mean())
