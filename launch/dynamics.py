"""How good is a run's dynamics model? Errors, calibration, a picture.

python launch/dynamics.py --run=runs/halfcheetah_medium+mopo/seed0
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

_RUN = flags.DEFINE_string(
    'run', None, 'A run folder of a method with a dynamics model.')
_SEED = flags.DEFINE_integer(
    'seed', 0, 'Of the draws of rollouts.', lower_bound=0)
_OUT = flags.DEFINE_string(
    'out', None, 'Where to write report.json, .png and .svg; <run>/dynamics by '
    'default.')


def main(argv: Sequence[str]) -> None:
  """Checks the flags, then measures and draws."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a run with --run=...')
  if not _RUN.value:
    raise errors.UserError('Which run? Give --run=<run folder>.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  import drvf_tf.envs  # noqa: F401  before TensorFlow: it silences gym
  from drvf_tf.dynamics import page
  numbers = page.make(_RUN.value, _SEED.value)
  print(page.table(numbers))
  folder = pathlib.Path(_OUT.value or pathlib.Path(_RUN.value) / 'dynamics')
  for path in page.write(numbers, folder):
    print(f'written: {path}')


if __name__ == '__main__':
  errors.run(main)
