"""In-distribution and out-of-distribution pairs to ask the critic about."""
from typing import Callable, NamedTuple, Optional

import numpy as np

from drvf_tf import errors
from drvf_tf.data import loading, offline_dataset
from drvf_tf.envs import d4rl_tasks
from drvf_tf.policies import support
from drvf_tf.uncertainty import ranks_and_distances

Act = Callable[[np.ndarray], np.ndarray]  # raw observations to actions

# Pairs this close, in standard deviations of the data, are one and the same.
_SAME = 1e-4


class Points(NamedTuple):
  """Pairs with raw observations: first those in distribution, then the others.

  Attributes:
    observations: `[B, obs]`.
    actions: `[B, act]`.
    is_ood: `[B]` bool.
    scaled: (s, a) in standard deviations of the data, `[B, obs + act]`.
    distances: To the nearest other pair of the data, `[B]`, as `scaled`.
    inside: What the pairs in distribution are, in words.
    outside: What the others are, in words.
  """
  observations: np.ndarray
  actions: np.ndarray
  is_ood: np.ndarray
  scaled: np.ndarray
  distances: np.ndarray
  inside: str
  outside: str


def read_ood(source: str,
             task: str) -> Optional[offline_dataset.OfflineDataset]:
  """The dataset that `source` names; None for 'policy' and 'uniform'.

  Args:
    source: A D4RL task's name, a file, `minari:<id>`, 'policy' or 'uniform'.
    task: The run's.

  Returns:
    The dataset, of the same robot or maze.
  """
  if source in ('policy', 'uniform'):
    return None
  is_file = source.endswith(('.hdf5', '.h5', '.npz')) or '/' in source
  if is_file or source.startswith('minari:'):
    return loading.read(source, task, require_reward=False)
  try:
    makers = [d4rl_tasks.spec(name).entry_point for name in (source, task)]
  except errors.UserError as error:
    raise errors.UserError(
        f'--ood={source} names no data: {error} A file, policy and uniform '
        'are possible too.') from error
  if makers[0] != makers[1]:
    raise errors.UserError(
        f"--ood={source} is of another robot or maze than the run's {task}: "
        'name data of the same one.')
  return loading.read(source, require_reward=False)


def draw(data: offline_dataset.OfflineDataset, source: str,
         ood: Optional[offline_dataset.OfflineDataset], act: Act, size: int,
         seed: int) -> Points:
  """Draws pairs of both kinds.

  Args:
    data: What the run was trained on; held-out episodes are preferred as
      pairs in distribution.
    source: As given to `read_ood`.
    ood: What `read_ood` returned.
    act: The run's greedy policy.
    size: Pairs of each kind, at the most.
    seed: Of the choice.

  Returns:
    The points.

  Raises:
    UserError: The out-of-distribution pairs are pairs of the data.
  """
  rng = np.random.default_rng(seed)
  held_out = data.held_out
  rows = data if held_out is None else held_out
  chosen = rng.permutation(rows.size)
  size = min(size, max(1, rows.size // 2), rows.size if ood is None
             else ood.size)
  inside, states = chosen[:size], chosen[-size:]
  observations = support.raw_observations(rows)
  if ood is None:
    out_observations = observations[states]
    out_actions = (act(out_observations) if source == 'policy'
                   else rng.uniform(data.action_low, data.action_high,
                                    [size, len(data.action_low)]))
    outside = (f"{'greedy' if source == 'policy' else 'uniform'} actions at "
               'states of the data')
  else:
    others = rng.choice(ood.size, size, replace=False)
    out_observations = support.raw_observations(ood)[others]
    out_actions = ood.actions[others]
    outside = ood.provenance
  all_observations = np.concatenate(
      [observations[inside], out_observations]).astype(np.float32)
  all_actions = np.concatenate(
      [rows.actions[inside], out_actions]).astype(np.float32)
  is_ood = np.arange(2 * size) >= size
  reference = np.concatenate(
      [support.raw_observations(data), data.actions], axis=1)
  scale = reference.std(axis=0, dtype=np.float64) + 1e-6
  scaled = np.concatenate([all_observations, all_actions], axis=1) / scale
  reference = reference / scale
  distances = np.concatenate([
      ranks_and_distances.nearest_distances(
          scaled[:size], reference, inside if held_out is None else None),
      ranks_and_distances.nearest_distances(scaled[size:], reference)])
  if ood is not None and np.all(distances[size:] < _SAME):
    raise errors.UserError(
        f"--ood={source} holds the very pairs of the run's data: name other "
        'data, or policy or uniform.')
  kind = 'trained on' if held_out is None else 'held out'
  return Points(all_observations, all_actions, is_ood, scaled, distances,
                f'{data.provenance}, {kind}', outside)
