"""The embedded default: data for maze2d-umaze, made on the spot."""
import pathlib

import gin
from absl import logging

from drvf_tf.data import files, waypoints

TASK = 'maze2d-umaze-v1'


@gin.configurable('generated_maze2d')
def generated_file(num_steps: int = 1_000_000, seed: int = 0,
                   action_noise: float = 0.5) -> pathlib.Path:
  """The generated dataset's file; generates it where it is not there yet.

  Args:
    num_steps: rows of the dataset; D4RL has as many. With a fifth of them
      policies drift to where there are none, see docs/results.md.
    seed: of the start, the targets and the planner.
    action_noise: standard deviation of the noise on the planner's actions.
      Without it nearly all actions are extreme, and none says what it is
      worth to stay at the goal.

  Returns:
    The path of the file.
  """
  name = (f'{TASK}-generated-{num_steps}-noise{action_noise}-seed{seed}'
          '.hdf5')
  path = files.find(name)
  if path is not None:
    return path
  path = files.writable_folder() / name
  logging.warning(
      "No file of D4RL for %s: generating %d steps with d4rl's own planner "
      "into %s (about two minutes, once). These are not D4RL's own rows.",
      TASK, num_steps, path)
  arrays = waypoints.collect(TASK, num_steps, seed, action_noise)
  files.write(path, arrays, note=(
      f"generated, not D4RL: d4rl's waypoint planner, action noise "
      f'{action_noise}, {num_steps} steps, seed {seed}'))
  return path
