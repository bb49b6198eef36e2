"""From a task's name, a path or arrays to an `OfflineDataset`."""
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

import gin
import numpy as np

from drvf_tf import errors
from drvf_tf.data import embedded, episodes, files, offline_dataset, validation
from drvf_tf.data import transforms as transforms_lib
from drvf_tf.envs import d4rl_tasks

Transform = Callable[
    [offline_dataset.OfflineDataset], offline_dataset.OfflineDataset]

_EMBEDDED_ALTERNATIVE = (
    f'Without a network, {embedded.TASK} works: its data are generated.')


@gin.configurable
def load(source: str = gin.REQUIRED,
         task: Optional[str] = None,
         transforms: Sequence[Transform] = (),
         method_transforms: Sequence[Transform] = (),
         states: Transform = transforms_lib.raw_observations,
         generate: bool = True,
         require_reward: bool = True) -> offline_dataset.OfflineDataset:
  """Loads a dataset for training.

  Args:
    source: a D4RL task's name, the path of an HDF5 or npz file, or
      `minari:<dataset id>`.
    task: the task a file was recorded in; bounds and sizes are checked
      against it. Not needed where the source is a task's name.
    transforms: the task's, applied in this order, e.g. `(@affine_reward,)` in
      gin.
    method_transforms: the method's, applied before those of the task: they see
      the rewards as they were recorded.
    states: what is made of the observations, between the two.
    generate: make maze2d-umaze's data where there is no file; false downloads
      D4RL's.
    require_reward: refuse a sparse task's data without a single reward.

  Returns:
    The dataset, validated.
  """
  dataset = read(source, task, generate, require_reward)
  for transform in (*method_transforms, states, *transforms):
    if dataset.held_out is not None:
      raise errors.UserError(
          'hold_out_episodes must be the last of load.transforms: what comes '
          'after it would not change the rows that were held out.')
    dataset = transform(dataset)
  return dataset


def read(source: str, task: Optional[str] = None, generate: bool = True,
         require_reward: bool = True, drop_unknown_next: bool = True,
         ) -> offline_dataset.OfflineDataset:
  """`load` without transforms; see `episodes` for `drop_unknown_next`."""
  if source.startswith('minari:'):
    from drvf_tf.data import minari_source
    arrays, bounds = minari_source.read(source[len('minari:'):])
    return from_arrays(arrays, source, task, source, require_reward,
                       drop_unknown_next, bounds)
  if source.endswith(('.hdf5', '.h5', '.npz')) or '/' in source:
    path = pathlib.Path(source).expanduser()
  else:
    task = task or source
    path = task_file(source, generate)
  arrays = files.read(path)
  return from_arrays(arrays, task or path.stem, task, files.provenance(path),
                     require_reward, drop_unknown_next)


def task_file(name: str, generate: bool = True) -> pathlib.Path:
  """The file of a D4RL task: found, generated or downloaded."""
  url = d4rl_tasks.dataset_url(name)
  path = files.find(url.rsplit('/', 1)[1])
  if path is not None:
    return path
  if name == embedded.TASK and generate:
    return embedded.generated_file()
  return files.download(url, _EMBEDDED_ALTERNATIVE)


def from_arrays(arrays: Mapping[str, np.ndarray], name: str,
                task: Optional[str] = None, provenance: str = 'arrays',
                require_reward: bool = True, drop_unknown_next: bool = True,
                action_bounds: Optional[tuple[Any, Any]] = None,
                ) -> offline_dataset.OfflineDataset:
  """A dataset from a user's own arrays, by D4RL's keys.

  Args:
    arrays: observations, actions, rewards, terminals; optionally timeouts and
      next_observations.
    name: what to call the dataset.
    task: the D4RL task they were recorded in. Without one, actions must lie
      in `action_bounds`, and only `timeouts` tells where an episode was cut.
    provenance: where the rows come from, for the card and for messages.
    require_reward: refuse a sparse task's data without a single reward.
    drop_unknown_next: see `episodes.to_transitions`.
    action_bounds: lowest and highest actions where there is no task; [-1, 1]
      unless given.

  Returns:
    The dataset, validated.
  """
  arrays = {key: np.asarray(value) for key, value in arrays.items()}
  validation.check_form(arrays, provenance)
  facts = _task_facts(task, arrays['actions'].shape[1], action_bounds)
  if task is None:
    validation.check_bounds(arrays['actions'], facts['action_low'],
                            facts['action_high'], provenance)
  else:
    validation.check_task(
        arrays, facts.pop('observation_size'), facts['action_low'],
        facts['action_high'], provenance, task)
    if require_reward and task.startswith(('antmaze', 'maze2d')):
      validation.check_sparse_reward(arrays['rewards'], provenance, task)
  transitions: dict[str, Any] = episodes.to_transitions(
      arrays, facts.pop('max_episode_steps'), drop_unknown_next)
  if not len(transitions['rewards']):
    raise errors.UserError(
        f'{provenance} has no row whose next observation is known: give '
        "'next_observations', or longer episodes.")
  return offline_dataset.OfflineDataset(
      name=name, provenance=provenance, **transitions, **facts)


def _task_facts(task: Optional[str], action_size: int,
                action_bounds: Optional[tuple[Any, Any]]) -> Any:
  if task is None:
    low, high = action_bounds or (-1., 1.)
    return {'action_low': np.full(action_size, low, np.float32),
            'action_high': np.full(action_size, high, np.float32),
            'max_episode_steps': None}
  env = d4rl_tasks.make(task)
  return {'action_low': env.action_space.low,
          'action_high': env.action_space.high,
          'observation_size': env.observation_space.shape[0],
          'max_episode_steps': d4rl_tasks.max_episode_steps(task),
          'reference_scores': d4rl_tasks.reference_scores(task)}
