"""Reports run folders: tables, curves, aggregates, the paper's numbers beside.

python launch/report.py --run=runs --out=report
python launch/report.py --run=runs --keep=docs/results/runs  # and keep records
python launch/report.py --run=runs --keep=docs/results/runs --origin=regenerated
python launch/report.py runs/quickstart/*  # what the shell names is --run, too
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
    'run', [], 'A run folder, or a folder to search for them; may be '
    'repeated.')
_OUT = flags.DEFINE_string(
    'out', 'report', 'Folder of the report; an older report is replaced.')
_TARGET_SCORE = flags.DEFINE_float(
    'target_score', None, 'Score that the smallest M has to reach; 95 % of the '
    'best by default.')
_KEEP = flags.DEFINE_string(
    'keep', None, 'Folder to keep the records of these runs in, without their '
    'networks; the report is on all that it holds.')
_ORIGIN = flags.DEFINE_enum(
    'origin', None, ['regenerated', 'generated', 'collected'], 'What the data '
    "of these runs are, where they are not D4RL's and their file does not say.")


def main(argv: Sequence[str]) -> None:
  """Reads the runs that the arguments name and writes a report."""
  folders = [*_RUN.value, *argv[1:]]
  records = pathlib.Path(_KEEP.value) if _KEEP.value else None
  if not folders:
    raise errors.UserError(
        'Report what? Name run folders, or a folder to search for them, e.g. '
        '--run=runs.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  import drvf_tf.envs  # noqa: F401  (before TensorFlow: it silences gym)
  from drvf_tf.report import page
  out = pathlib.Path(_OUT.value)
  for path, reason in page.make(folders, out, _TARGET_SCORE.value,
                                records, _ORIGIN.value):
    print(f'left out: {path}: {reason}')
  if records is not None:
    print(f'Records of the runs are in {records}.')
  print(f'The report is {out / "index.html"}, with report.md, tables/ and '
        'figures/ beside it.')


if __name__ == '__main__':
  errors.run(main)
