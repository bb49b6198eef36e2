r"""Collects a dataset in D4RL's HDF5 format.

  python launch/collect.py --task=maze2d-medium-v1 --policy=waypoints \
      --num_steps=200000 --out=/tmp/maze2d-medium.hdf5
"""
import os
import pathlib
import sys

from absl import flags

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors, project_files  # noqa: E402

_TASK = flags.DEFINE_string('task', None, 'A D4RL task.', required=True)
_POLICY = flags.DEFINE_string(
    'policy', None, "`waypoints` (D4RL's maze2d recipe), `random` (uniform "
    'actions), or the folder of a TF-Agents SavedModel policy.', required=True)
_OUT = flags.DEFINE_string(
    'out', None, 'The HDF5 file to write.', required=True)
_NUM_STEPS = flags.DEFINE_integer(
    'num_steps', 200_000, 'Rows to collect.', lower_bound=1)
_SEED = flags.DEFINE_integer('seed', 0, 'Of all randomness.', lower_bound=0)
_ACTION_NOISE = flags.DEFINE_float(
    'action_noise', 0., 'Standard deviation of Gaussian noise on actions, as a '
    'share of half their range.', lower_bound=0.)


def _arrays():
  from drvf_tf.data import collecting, waypoints
  task, steps, seed = _TASK.value, _NUM_STEPS.value, _SEED.value
  if _POLICY.value == 'waypoints':
    return waypoints.collect(task, steps, seed, _ACTION_NOISE.value)
  if _POLICY.value == 'random':
    actor = collecting.random_actor(task, seed)
  else:
    from drvf_tf.policies import loading
    actor = collecting.policy_actor(
        loading.load(_POLICY.value).policy, task, seed, _ACTION_NOISE.value)
  return collecting.collect(task, actor, steps, seed)


def main(argv) -> None:
  """Flags, one collection, one file."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name the task with --task=...')
  from drvf_tf.data import collecting, files
  output = pathlib.Path(_OUT.value)
  if output.suffix not in ('.hdf5', '.h5'):
    raise errors.UserError(
        f'--out={output} must end in .hdf5, which D4RL readers expect.')
  arrays = _arrays()
  files.write(output, arrays, collecting.describe(
      f'{_POLICY.value} on {_TASK.value}', _NUM_STEPS.value, _SEED.value,
      _ACTION_NOISE.value))
  print(project_files.as_typed(
      f'written: {output}, {len(arrays["rewards"]):,} rows, '
      f'{collecting.episodes_in_words(arrays)}; `python launch/dataset.py '
      f'--dataset={output} --task={_TASK.value}` shows its card.'))


if __name__ == '__main__':
  errors.run(main)
