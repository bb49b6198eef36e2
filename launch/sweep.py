r"""Trains tasks × methods × seeds, many at once, on Ray.

python launch/sweep.py --sweep=sweeps/maze2d_smoke.gin
python launch/sweep.py --task=hopper-medium-v2 --gin_file=gin/cpu.gin \
  --method=drvf --method=edac --method=near=gin/bc_actor.gin --seeds=0,1,2 \
  --out=runs/hopper

The same command resumes where the last left off; --dry_run says where that is.
"""
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Optional

from absl import flags

_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors, project_files  # noqa: E402
from drvf_tf.sweep import (  # noqa: E402
  cells,
  plan,
  ray_pool,
  runner,
  screen,
  states,
  sweep_folder,
  table,
)
from drvf_tf.train import interrupts  # noqa: E402

_SWEEP = flags.DEFINE_string(
    'sweep', None, 'A gin file of sweep.* bindings; sweeps/ has some.')
_TASK = flags.DEFINE_multi_string(
    'task', None, 'A D4RL task, or its gin file; may be repeated, instead of '
    "the sweep file's tasks.")
_METHOD = flags.DEFINE_multi_string(
    'method', None, 'drvf, a file of gin/baselines, e.g. edac, or <name>=<gin '
    "file>,...: overlays after a task's file, none (<name>=) for DRVF; "
    '<file>/<task>.gin goes before <file>.gin where there is one. May be '
    "repeated, instead of the sweep file's.")
_SEEDS = flags.DEFINE_list(
    'seeds', None, "Seeds, e.g. 0,1,2, instead of the sweep file's.")
_GIN_FILE = flags.DEFINE_multi_string(
    'gin_file', [], "For every run, after its task's and its method's files, "
    'e.g. gin/cpu.gin; may be repeated.')
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], 'A gin binding for every run; may be repeated.')
_OUT = flags.DEFINE_string(
    'out', None, 'Folder of the sweep: <task>/<method>/seed<seed> are '
    "ordinary run folders. runs/<sweep file's name> by default.")
_CPUS = flags.DEFINE_integer(
    'cpus_per_run', 1, 'CPUs, threads and evaluation processes of a run.',
    lower_bound=1)
_GPUS = flags.DEFINE_float(
    'gpus_per_run', 0.0, 'GPUs of a run; below 1, several share one; 0 hides '
    'them.', lower_bound=0.0)
_RETRIES = flags.DEFINE_integer(
    'retries', 3, 'Attempts after a crash; each resumes from the last '
    'checkpoint.', lower_bound=0)
_ADDRESS = flags.DEFINE_string(
    'address', None, 'Of a Ray cluster that shares this file system; this '
    'machine by default.')
_DRY_RUN = flags.DEFINE_bool(
    'dry_run', False, 'Only show every run, its state and its command.')

# Variables that machines of a cluster need as they are here.
_PASSED_ON = ('D4RL_DATASET_DIR', 'DRVF_TF_MUJOCO_PY', 'TF_CPP_MIN_LOG_LEVEL')


def main(argv: Sequence[str]) -> None:
  """Reads the flags and sweeps."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a sweep file with --sweep=...')
  todo = cells.product(
      plan.read(_SWEEP.value, tasks=_TASK.value, methods=_methods(),
                seeds=_seeds(), gin_files=_GIN_FILE.value,
                bindings=_GIN_PARAM.value), _out(), _CPUS.value)
  if _DRY_RUN.value:
    found = [states.read(cell.run_dir) for cell in todo]
    print('\n'.join([*table.with_commands(todo, found), table.counts(found)]))
    return
  ray_pool.check_installed()
  with sweep_folder.SweepFolder(_out()) as folder:
    left = [cell for cell in todo if not states.is_finished(cell)]
    failed, signal = _run(left, folder) if left else ([], None)
  _close(todo, failed, signal)


def _run(left: Sequence[cells.Cell], folder: sweep_folder.SweepFolder
         ) -> tuple[list[tuple[cells.Cell, str]], Optional[int]]:
  """(cells that failed and why, the signal that stopped the sweep)."""
  print(f'{len(left)} runs to do in {folder.path}, each with {_CPUS.value} '
        f'CPU(s) and {_GPUS.value:g} GPU(s).', flush=True)
  show = screen.Screen(left, sys.stdout, sys.stdout.isatty())
  pool = ray_pool.RayPool(_ADDRESS.value, _CPUS.value, _GPUS.value)
  try:
    with interrupts.Interrupts() as signals:
      ended = runner.Runner(
          pool, show, runner.Surroundings(
              folder.stop, os.getcwd(), _environment()), _RETRIES.value).run(
                  left, lambda: signals.received is not None)
  except KeyboardInterrupt:
    print('Stopped at once: the same command resumes from the last '
          'checkpoints.', file=sys.stderr)
    sys.exit(130)
  finally:
    show.close()
    pool.close()
  return runner.failures(ended), signals.received


def _close(todo: Sequence[cells.Cell], failed: Sequence[tuple[cells.Cell, str]],
           signal: Optional[int]) -> None:
  """Prints the closing table, and exits as the sweep ended."""
  found = [states.read(cell.run_dir) for cell in todo]
  print('\n'.join([
      *table.grid([table.row(*pair) for pair in zip(todo, found)]),
      table.counts(found)]))
  for cell, note in failed:
    print(f'\n{cell.name} failed: {note}\n  its output: '
          f'{cell.run_dir / "train.log"}')
  print(f'\nRun folders  {_out()}/<task>/<method>/seed<seed>', flush=True)
  if signal is not None:
    print('Stopped and saved; to resume:\n  '
          + project_files.command_line([sys.executable, *sys.argv]), flush=True)
    sys.exit(128 + signal)
  if failed:
    print('Mend what they say; the same command tries them again.')
    sys.exit(1)


def _out() -> pathlib.Path:
  if _OUT.value:
    return pathlib.Path(_OUT.value).absolute()
  if not _SWEEP.value:
    raise errors.UserError(
        'Where to? Name a folder with --out=runs/my_sweep.')
  return pathlib.Path('runs').absolute() / pathlib.Path(_SWEEP.value).stem


def _methods() -> Optional[dict[str, list[str]]]:
  if _METHOD.value is None:
    return None
  found: dict[str, list[str]] = {}
  for text in _METHOD.value:
    name, equals, files = text.partition('=')
    if name in found:
      raise errors.UserError(
          f'--method={text} should be a new name and its gin files, e.g. '
          '--method=mine=my_method.gin, or --method=edac.')
    # A name alone stands for its file for each task.
    found[name] = ([file for file in files.split(',') if file] if equals
                   else [name])
  return found


def _seeds() -> Optional[list[int]]:
  if _SEEDS.value is None:
    return None
  try:
    return [int(seed) for seed in _SEEDS.value]
  except ValueError as error:
    raise errors.UserError(
        f'--seeds={",".join(_SEEDS.value)} should be whole numbers, e.g. '
        '--seeds=0,1,2.') from error


def _environment() -> dict[str, str]:
  """Variables of a run, over those of its worker."""
  result = {name: os.environ[name] for name in _PASSED_ON
            if name in os.environ}
  if _GPUS.value == 0:
    result['CUDA_VISIBLE_DEVICES'] = '-1'
  elif _GPUS.value < 1:  # TensorFlow would take all memory for the first run
    result['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'
  return result


if __name__ == '__main__':
  errors.run(main)
