r"""Trains from gin files: flags → gin → `train_eval`.

python launch/train.py --gin_file=gin/antmaze_umaze.gin --gin_file=gin/cpu.gin \
  --gin_param="DRVFAgent.eta_ood=1.0" --seed=1
python launch/train.py --task=hopper-medium-v2 --method=edac
"""
import gc
import os
import pathlib
import sys
from collections.abc import Sequence

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402

_TASK = flags.DEFINE_string(
    'task', None, 'A D4RL task, e.g. hopper-medium-v2, or the stem of a gin '
    'file, e.g. quickstart: its gin file comes first.')
_METHOD = flags.DEFINE_string(
    'method', None, 'With --task: drvf, or a file of gin/baselines, e.g. edac, '
    "or its own for the task where there is one; comes after the task's.")
_GIN_FILE = flags.DEFINE_multi_string(
    'gin_file', [], 'A gin file; may be repeated, later ones win.')
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], 'A gin binding; may be repeated, wins over the files.')
_RUN = flags.DEFINE_string(
    'run', None, 'Folder of the run; runs/<gin files>/seed<seed> by default. '
    'A run that the folder holds is resumed.')
flags.DEFINE_alias('run_dir', 'run')
_LIST = flags.DEFINE_bool(
    'list', False, 'Print the tasks and the methods with their gin files, and '
    'stop.')
_SIZES = flags.DEFINE_bool(
    'sizes', False, 'With --list: the number of parameters of each method, '
    'which takes a while.')
_SEED = flags.DEFINE_integer(
    'seed', None, 'Binds train_eval.seed, over the gin files.')


def main(argv: Sequence[str]) -> None:
  """Reads the flags and trains."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name gin files with --gin_file=...')
  if _LIST.value:
    _print_list()
    return
  files = _files()
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.WARNING)
  # TensorFlow is imported after the flags are known to make sense, and d4rl
  # where the configuration names a task of its. What is imported stays: to look
  # for garbage in it takes a second of the start.
  gc.disable()
  from drvf_tf.runs import configuration
  from drvf_tf.train import train_eval
  gc.freeze()
  gc.enable()
  bindings: list[str] = list(_GIN_PARAM.value)
  if _SEED.value is not None:
    bindings.append(f'train_eval.seed={_SEED.value}')
  configuration.parse([file for _, file in files], bindings)
  configuration.check_complete()
  try:
    train_eval.train_eval(_RUN.value or _default_run(files))
  except errors.Interrupted as error:
    print(errors.plain(error), file=sys.stderr)
    sys.exit(error.exit_code)
  except KeyboardInterrupt:  # before the first step, or after the last
    print('Stopped: the same command resumes from the last checkpoint.',
          file=sys.stderr)
    sys.exit(130)


def _files() -> list[tuple[str, str]]:
  """(what to call it, gin file) of the task, the method and the given."""
  from drvf_tf.runs import gin_files
  given = [(pathlib.Path(file).stem, file) for file in _GIN_FILE.value]
  if not _TASK.value:
    if _METHOD.value or not given:
      raise errors.UserError(
          'Which task? Name it, e.g. --task=hopper-medium-v2, or its gin file, '
          'e.g. --gin_file=gin/quickstart.gin; --method needs --task.')
    return given
  task = gin_files.of_task(_TASK.value)
  named = [(pathlib.Path(task).stem, task)]
  method = gin_files.of_method(_METHOD.value or gin_files.DRVF, task)
  if method:
    named.append((_METHOD.value, method))
  files = [*named, *given]
  print(f'gin files: {", ".join(file for _, file in files)}', flush=True)
  return files


def _print_list() -> None:
  from drvf_tf.runs import catalogue
  print(catalogue.task_table(), end='\n\n', flush=True)
  sizes = None
  if _SIZES.value:
    import drvf_tf.envs  # noqa: F401
    from drvf_tf.train import methods
    sizes = methods.sizes()
  print(catalogue.method_table(sizes))
  print('\nAny method over any task, by the name of its file: '
        '--task=hopper-medium-v2 --method=edac, or '
        '--gin_file=gin/hopper_medium.gin --gin_file=gin/baselines/edac.gin; '
        'parameters (--sizes) are those of walker2d-medium, a dynamics model '
        'aside.')


def _default_run(files: Sequence[tuple[str, str]]) -> str:
  import gin
  name = '+'.join(stem for stem, _ in files)
  try:
    seed = gin.query_parameter('train_eval.seed')
  except ValueError:  # not bound: the loop's own
    seed = 0
  return str(pathlib.Path('runs') / name / f'seed{seed}')


if __name__ == '__main__':
  errors.run(main)
