"""Fig. 2 in one dimension: what repulsion gives few members, in a minute.

python launch/demo.py --output_dir=demo
"""
import os
import pathlib
import sys
from typing import Sequence

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from drvf_tf import errors  # noqa: E402

_OUTPUT_DIR = flags.DEFINE_string(
    'output_dir', 'demo', 'Where to write one_dimension.png and .svg.')
_STEPS = flags.DEFINE_integer(
    'steps', 1_000, 'Train steps of each ensemble.', lower_bound=1)
_SEED = flags.DEFINE_integer(
    'seed', 0, 'Of initial weights and draws; the data stay.', lower_bound=0)


def main(argv: Sequence[str]) -> None:
  """Trains the ensembles, prints their numbers, draws them."""
  if len(argv) > 1:
    raise errors.UserError(f'{argv[1]!r} is not a flag.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  from drvf_tf.demo import figure, one_dimension
  data = one_dimension.make_data()
  fits = []
  for case in one_dimension.cases():
    print(f'{case.name} ...', file=sys.stderr, flush=True)
    fits.append(one_dimension.fit(case, data, _STEPS.value, _SEED.value))
  print(one_dimension.table(fits))
  folder = pathlib.Path(_OUTPUT_DIR.value)
  shown = [fit for fit in fits if fit.case.shown]
  try:
    for kind in ('png', 'svg'):
      path = folder / f'one_dimension.{kind}'
      figure.save(shown, data, path)
      print(f'written: {path}')
  except OSError as error:
    raise errors.UserError(
        f'{folder} cannot be written to ({error.strerror}): name another '
        'folder with --output_dir.') from error


if __name__ == '__main__':
  errors.run(main)
