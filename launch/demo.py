"""Fig. 2 in one dimension: what repulsion gives few members, in a minute.

python launch/demo.py --out=demo
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

_OUT = flags.DEFINE_string(
    'out', 'demo', 'Where to write one_dimension.png and .svg.')
_NUM_STEPS = flags.DEFINE_integer(
    'num_steps', 1_000, 'Train steps of each ensemble.', lower_bound=1)
_SEED = flags.DEFINE_integer(
    'seed', 0, 'Of initial weights and draws; the data stay.', lower_bound=0)


def main(argv: Sequence[str]) -> None:
  """Trains the ensembles, prints their numbers, draws them."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a folder with --out=...')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  from drvf_tf.demo import figure, one_dimension
  data = one_dimension.make_data()
  fits = []
  for case in one_dimension.cases():
    print(f'{case.name} ...', file=sys.stderr, flush=True)
    fits.append(one_dimension.fit(case, data, _NUM_STEPS.value, _SEED.value))
  print(one_dimension.table(fits))
  folder = pathlib.Path(_OUT.value)
  shown = [fit for fit in fits if fit.case.shown]
  try:
    for kind in ('png', 'svg'):
      path = folder / f'one_dimension.{kind}'
      figure.save(shown, data, path)
      print(f'written: {path}')
  except OSError as error:
    raise errors.UserError(
        f'{folder} cannot be written to ({error.strerror}): name another '
        'folder with --out.') from error


if __name__ == '__main__':
  errors.run(main)
