"""From a task's name, a path or arrays to an `OfflineDataset`."""
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

import gin
import numpy as np

from drvf_tf import errors
from drvf_tf.data import card as card_lib
from drvf_tf.data import embedded, episodes, files, offline_dataset, validation
from drvf_tf.data import transforms as transforms_lib

Transform = Callable[
    [offline_dataset.OfflineDataset], offline_dataset.OfflineDataset]

UNIT = (-1., 1.)  # D4RL's action bounds, and most controllers'
_EMBEDDED_ALTERNATIVE = (
    f'Without a network, {embedded.TASK} works: its data are generated.')


@gin.configurable
def load(source: str = gin.REQUIRED,
         task: Optional[str] = None,
         transforms: Sequence[Transform] = (),
         method_transforms: Sequence[Transform] = (),
         states: Transform = transforms_lib.raw_observations,
         generate: bool = True,
         require_reward: bool = True,
         action_bounds: Optional[Sequence[float]] = UNIT,
         card: bool = False) -> offline_dataset.OfflineDataset:
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
    action_bounds: see `from_arrays`.
    card: print the dataset's card, before any transform.

  Returns:
    The dataset, validated.
  """
  dataset = read(source, task, generate, require_reward,
                 action_bounds=action_bounds, own_logs=True)
  if card:
    print(card_lib.to_text(card_lib.make(dataset)), flush=True)
  for transform in (*method_transforms, states, *transforms):
    if dataset.held_out is not None:
      raise errors.UserError(
          'hold_out_episodes must be the last of load.transforms: what comes '
          'after it would not change the rows that were held out.')
    dataset = transform(dataset)
  return dataset


def read(source: str, task: Optional[str] = None, generate: bool = True,
         require_reward: bool = True, drop_unknown_next: bool = True,
         action_bounds: Optional[Sequence[float]] = UNIT,
         own_logs: bool = False) -> offline_dataset.OfflineDataset:
  """`load` without transforms; see `from_arrays` for what is its own."""
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
                     require_reward, drop_unknown_next, action_bounds,
                     own_logs)


def task_file(name: str, generate: bool = True) -> pathlib.Path:
  """The file of a D4RL task: found, generated or downloaded."""
  from drvf_tf.envs import d4rl_tasks  # not where there is no task
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
                action_bounds: Optional[Sequence[Any]] = UNIT,
                own_logs: bool = False) -> offline_dataset.OfflineDataset:
  """A dataset from a user's own arrays, by D4RL's keys.

  Args:
    arrays: observations, actions, rewards, terminals; optionally timeouts,
      next_observations, behaviour_log_probs, action_low and action_high.
    name: what to call the dataset.
    task: the D4RL task they were recorded in. Without one, only `timeouts`
      tells where an episode was cut.
    provenance: where the rows come from, for the card and for messages.
    require_reward: refuse a sparse task's data without a single reward.
    drop_unknown_next: see `episodes.to_transitions`.
    action_bounds: lowest and highest actions where neither a task nor the
      arrays tell; None for those of the data.
    own_logs: without a task, check too what only the recorder knows; see
      `validation.check_own_logs`.

  Returns:
    The dataset, validated.
  """
  arrays = {key: np.asarray(value) for key, value in arrays.items()}
  validation.check_form(arrays, provenance)
  facts = (_own_facts(arrays, action_bounds, provenance) if task is None
           else _task_facts(task))
  if task is None:
    validation.check_bounds(arrays['actions'], facts['action_low'],
                            facts['action_high'], provenance)
    if own_logs:
      validation.check_own_logs(arrays, provenance)
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


def _own_facts(arrays: Mapping[str, np.ndarray],
               action_bounds: Optional[Sequence[Any]], source: str) -> Any:
  found, origin = validation.bounds_of_file(arrays, source), 'the file'
  if found is None and action_bounds is not None:
    low, high = action_bounds
    found, origin = (low, high), 'the configuration'
  if found is None:
    found = validation.bounds_of_data(arrays['actions'], source)
    origin = 'the smallest and the largest in the data'
  size = arrays['actions'].shape[1]
  return {'action_low': np.full(size, found[0], np.float32),
          'action_high': np.full(size, found[1], np.float32),
          'bounds_from': origin, 'max_episode_steps': None}


def _task_facts(task: str) -> Any:
  from drvf_tf.envs import d4rl_tasks
  env = d4rl_tasks.make(task)
  return {'action_low': env.action_space.low,
          'action_high': env.action_space.high,
          'bounds_from': 'the task',
          'observation_size': env.observation_space.shape[0],
          'max_episode_steps': d4rl_tasks.max_episode_steps(task),
          'reference_scores': d4rl_tasks.reference_scores(task)}
