"""Minari's datasets, for those who have them."""
from typing import Any

import numpy as np
from absl import logging

from drvf_tf import errors


def read(dataset_id: str) -> tuple[dict[str, np.ndarray], tuple[Any, Any]]:
  """The arrays of a Minari dataset by D4RL's keys, and its action bounds."""
  try:
    import minari
  except ImportError as error:
    raise errors.UserError(
        'Reading Minari datasets needs the package minari: `pip install '
        "'drvf_tf[minari]'`.") from error
  logging.warning(
      "%s comes from Minari. Minari's MuJoCo datasets are NOT D4RL's v2: they "
      "were collected anew, in another simulator; their scores cannot be "
      'compared with published D4RL scores.', dataset_id)
  try:
    dataset = minari.load_dataset(dataset_id, download=True)
  except Exception as error:  # noqa: BLE001  (network, disk, name: all alike)
    raise errors.UserError(
        f'Minari has no dataset {dataset_id!r} on this disk and could not '
        f'download it ({error}): check `minari list remote`.') from error
  parts = [_episode(episode) for episode in dataset.iterate_episodes()]
  arrays = {key: np.concatenate([part[key] for part in parts])
            for key in parts[0]}
  space = dataset.action_space
  return arrays, (space.low, space.high)


def _episode(episode: Any) -> dict[str, np.ndarray]:
  if not isinstance(episode.observations, np.ndarray):
    raise errors.UserError(
        'this Minari dataset has structured observations, and drvf_tf needs '
        'flat ones: flatten them and load the arrays with '
        '`data.from_arrays`.')
  terminals = np.asarray(episode.terminations, bool)
  timeouts = np.asarray(episode.truncations, bool).copy()
  timeouts[-1] = not terminals[-1]
  return {'observations': episode.observations[:-1],
          'next_observations': episode.observations[1:],
          'actions': np.asarray(episode.actions),
          'rewards': np.asarray(episode.rewards),
          'terminals': terminals, 'timeouts': timeouts}
