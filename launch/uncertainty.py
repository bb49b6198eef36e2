r"""Fig. 3: does q_std tell data from what is not data? A picture and numbers.

python launch/uncertainty.py --run=runs/hopper_medium/seed0 \
  --ood=hopper-expert-v2
python launch/uncertainty.py --run=<one method> --run=<another> --ood=uniform
"""
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

_RUN = flags.DEFINE_multi_string(
    'run', [], 'A run folder; a second one is drawn beside the first.')
_OOD = flags.DEFINE_string(
    'ood', None, 'Out-of-distribution pairs: a D4RL task of the same robot or '
    "maze, a file, minari:<id>, or the policy's (policy) or uniform (uniform) "
    'actions at states of the data.')
_CHECKPOINT = flags.DEFINE_string(
    'checkpoint', 'last', 'last, best, or the step of a checkpoint.')
_LABEL = flags.DEFINE_multi_string(
    'label', [], "What to call each run; by default its agent and folder's "
    'name.')
_POINTS = flags.DEFINE_integer(
    'points', 2_000, 'Pairs in all, half of them in distribution.',
    lower_bound=10)
_ROWS = flags.DEFINE_integer(
    'rows', 10_000, 'Rows of data for the coverage and for the exact Γ.',
    lower_bound=10)
_SEED = flags.DEFINE_integer(
    'seed', 0, 'Of the choice of points and rows, and of t-SNE.',
    lower_bound=0)
_OUT = flags.DEFINE_string(
    'out', None, 'Where to write uncertainty.png, .svg and .json; '
    '<first run>/uncertainty by default.')


def main(argv: Sequence[str]) -> None:
  """Checks the flags, then measures and draws."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a run with --run=...')
  if not 1 <= len(_RUN.value) <= 2 or not _OOD.value:
    raise errors.UserError(
        'Which runs, against what? Give --run=<run folder>, once or twice, '
        'and --ood=<data, policy or uniform>.')
  if _LABEL.value and len(_LABEL.value) != len(_RUN.value):
    raise errors.UserError(
        f'There are {len(_RUN.value)} runs and {len(_LABEL.value)} labels: '
        'give --label once for each --run, or not at all.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  import drvf_tf.envs  # noqa: F401  before TensorFlow: it silences gym
  from drvf_tf.uncertainty import figure, page
  figure.check_installed()
  report = page.make(
      _RUN.value, _OOD.value, _CHECKPOINT.value, _LABEL.value, _POINTS.value,
      _ROWS.value, _SEED.value, _say)
  print(page.table(report.numbers))
  _say('t-SNE and picture ...')
  folder = pathlib.Path(
      _OUT.value or pathlib.Path(_RUN.value[0]) / 'uncertainty')
  for path in page.write(report, folder):
    print(f'written: {path}')


def _say(line: str) -> None:
  print(line, file=sys.stderr, flush=True)


if __name__ == '__main__':
  errors.run(main)
