"""Changes to a whole dataset, chosen in gin."""
import gin
import numpy as np

from drvf_tf import errors
from drvf_tf.data import offline_dataset


@gin.configurable
def affine_reward(dataset: offline_dataset.OfflineDataset,
                  scale: float = 4., offset: float = 0.5,
                  ) -> offline_dataset.OfflineDataset:
  """scale (r - offset); the default is AntMaze's 4 (r - 0.5)."""
  rewards = np.float32(scale) * (dataset.rewards - np.float32(offset))
  return dataset.replace(
      rewards=rewards, reward_scale=scale * dataset.reward_scale,
      reward_offset=dataset.reward_offset + offset / dataset.reward_scale)


@gin.configurable
def raw_observations(dataset: offline_dataset.OfflineDataset
                     ) -> offline_dataset.OfflineDataset:
  """The observations as they were recorded."""
  return dataset


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


@gin.configurable
def normalize_returns(dataset: offline_dataset.OfflineDataset,
                      scale: float = 1_000.,
                      ) -> offline_dataset.OfflineDataset:
  """Rewards times scale / (best - worst episode return), as IQL has them."""
  returns = dataset.episode_returns()
  width = returns.max() - returns.min()
  if not width > 0:
    raise errors.UserError(
        f'All episodes of {dataset.name} have the same return, so that '
        'normalize_returns has nothing to divide by: leave it out.')
  factor = float(scale / width)
  return dataset.replace(
      rewards=dataset.rewards * np.float32(factor),
      reward_scale=factor * dataset.reward_scale)


@gin.configurable
def best_episodes(dataset: offline_dataset.OfflineDataset,
                  fraction: float = 0.1) -> offline_dataset.OfflineDataset:
  """The episodes of highest return, at least one, in their order."""
  if not 0 < fraction <= 1:
    raise errors.UserError(
        f'best_episodes.fraction must be above 0 and at most 1, not '
        f'{fraction}: 0.1 keeps the best tenth.')
  count = max(1, int(fraction * dataset.num_episodes))
  order = np.argsort(-dataset.episode_returns(), kind='stable')
  return _rows(dataset, np.isin(_episode_numbers(dataset), order[:count]))


@gin.configurable
def hold_out_episodes(dataset: offline_dataset.OfflineDataset,
                      fraction: float = 0.02, seed: int = 0,
                      ) -> offline_dataset.OfflineDataset:
  """Sets whole episodes aside, as `dataset.held_out`; the last transform.

  They are for what must not be measured on rows that were trained on, such as
  the quantiles of an exported policy's uncertainty.
  """
  count = round(fraction * dataset.num_episodes)
  if not 1 <= count < dataset.num_episodes:
    raise errors.UserError(
        f'hold_out_episodes.fraction={fraction} sets {count} of '
        f'{dataset.num_episodes} episodes aside: choose it such that both '
        'parts have some.')
  chosen = np.random.default_rng(seed).choice(
      dataset.num_episodes, count, replace=False)
  aside = np.isin(_episode_numbers(dataset), chosen)
  return _rows(dataset, ~aside).replace(held_out=_rows(dataset, aside))


@gin.configurable
def next_actions(dataset: offline_dataset.OfflineDataset
                 ) -> offline_dataset.OfflineDataset:
  """Gives each row the action that was recorded in s', as ReBRAC wants it.

  The last row of an episode has none. It is dropped, as D4RL's own loader
  drops timeouts, unless it is a terminal: nothing is bootstrapped from that
  one, and its own action stands in.
  """
  ends, terminals = dataset.episode_ends, dataset.terminals
  following = np.concatenate([dataset.actions[1:], dataset.actions[-1:]])
  following[ends] = dataset.actions[ends]
  keep = ~ends | terminals
  if not keep.any():
    raise errors.UserError(
        f'No row of {dataset.name} has a next action: give longer episodes.')
  # The end of a shortened episode moves to the row before it.
  ends = keep & (ends | np.concatenate([~keep[1:], [False]]))
  rows = _rows(
      dataset.replace(next_actions=following, episode_ends=ends), keep)
  return rows.replace(cut_off=dataset.cut_off)


def _episode_numbers(dataset: offline_dataset.OfflineDataset) -> np.ndarray:
  """Which episode each row is of, [size]."""
  return np.cumsum(dataset.episode_ends) - dataset.episode_ends


def _rows(dataset: offline_dataset.OfflineDataset,
          rows: np.ndarray) -> offline_dataset.OfflineDataset:
  return dataset.replace(
      cut_off=dataset.cut_off and bool(rows[-1]),
      **{name: getattr(dataset, name)[rows] for name in dataset.arrays})
