"""Trains from gin files: flags → gin → `train_eval`.

python launch/train.py --gin_file=gin/antmaze_umaze.gin --gin_file=gin/cpu.gin \
  --gin_param="DRVFAgent.eta_ood=1.0" --seed=1
"""
import os
import pathlib
import sys
from typing import List, Sequence

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from drvf_tf import errors  # noqa: E402

_GIN_FILE = flags.DEFINE_multi_string(
    'gin_file', [], 'A gin file; may be repeated, later ones win.')
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], 'A gin binding; may be repeated, wins over the files.')
_RUN_DIR = flags.DEFINE_string(
    'run_dir', None, 'Folder of the run; runs/<gin files>/seed<seed> by '
    'default. A run that the folder holds is resumed.')
_LIST = flags.DEFINE_bool(
    'list', False, 'Print the methods, their gin files and sizes, and stop.')
_SEED = flags.DEFINE_integer(
    'seed', None, 'Binds train_eval.seed, over the gin files.')


def main(argv: Sequence[str]) -> None:
  """Reads the flags and trains."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name gin files with --gin_file=...')
  if _LIST.value:
    _print_methods()
    return
  if not _GIN_FILE.value:
    raise errors.UserError(
        'Which task? Name a gin file, e.g. --gin_file=gin/quickstart.gin.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.WARNING)
  # TensorFlow is imported after the flags are known to make sense, and d4rl
  # before it: it silences what gym prints when it is imported.
  import drvf_tf.envs  # noqa: F401
  from drvf_tf.runs import configuration
  from drvf_tf.train import train_eval
  bindings: List[str] = list(_GIN_PARAM.value)
  if _SEED.value is not None:
    bindings.append(f'train_eval.seed={_SEED.value}')
  configuration.parse(_GIN_FILE.value, bindings)
  try:
    train_eval.train_eval(_RUN_DIR.value or _default_run_dir())
  except errors.UserError as error:
    raise errors.UserError(errors.plain(error)) from error
  except errors.Interrupted as error:
    print(errors.plain(error), file=sys.stderr)
    sys.exit(error.exit_code)
  except KeyboardInterrupt:  # before the first step, or after the last
    print('Stopped: the same command resumes from the last checkpoint.',
          file=sys.stderr)
    sys.exit(130)


def _print_methods() -> None:
  import drvf_tf.envs  # noqa: F401
  from drvf_tf.train import methods
  print(methods.table())
  print('\nAny of them over any task: --gin_file=gin/hopper_medium.gin '
        '--gin_file=gin/baselines/edac.gin; parameters are those of '
        'walker2d-medium.')


def _default_run_dir() -> str:
  import gin
  name = '+'.join(pathlib.Path(file).stem for file in _GIN_FILE.value)
  seed = gin.query_parameter('train_eval.seed')
  return str(pathlib.Path('runs') / name / f'seed{seed}')


if __name__ == '__main__':
  errors.run(main)
