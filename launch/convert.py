r"""Converts a table of your own logs (CSV) into a dataset to train on.

python launch/convert.py --table=logs.csv --out=logs.npz --episode=trip \
  --step=t --observations='speed,gap_*' --actions=throttle,brake --reward=r \
  --terminal=crashed --action_low=0,0 --action_high=1,1
"""
import os
import pathlib
import sys
from collections.abc import Sequence

from absl import flags

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402

_TABLE = flags.DEFINE_string(
    'table', None, 'A CSV file with a header and a row for each step.')
_OUT = flags.DEFINE_string(
    'out', None, 'The file to write: .npz or .hdf5.')
_EPISODE = flags.DEFINE_string(
    'episode', 'episode', "The column of the episode's id.")
_STEP = flags.DEFINE_string(
    'step', 'step', 'The column of the number of a step in its episode.')
_OBSERVATIONS = flags.DEFINE_list(
    'observations', ['obs_*'], 'Columns that the policy sees; * stands for '
    'anything.')
_ACTIONS = flags.DEFINE_list(
    'actions', ['action_*'], 'Columns that the policy decides.')
_REWARD = flags.DEFINE_string('reward', 'reward', 'The column of the reward.')
_TERMINAL = flags.DEFINE_string(
    'terminal', 'terminal', 'The column that is 1 where the task ended (a cut '
    'recording is no end); empty if there is none.')
_LOG_PROB = flags.DEFINE_string(
    'log_prob', None, "The column of the actions' log-density, where whoever "
    'drew them noted it.')
_LOW = flags.DEFINE_list(
    'action_low', None, 'Lowest value of each action; the least in the data '
    'if not given.')
_HIGH = flags.DEFINE_list('action_high', None, 'Highest value of each action.')


def main(argv: Sequence[str]) -> None:
  """Reads the table, checks it, writes the arrays, prints their card."""
  if len(argv) > 1 or not _TABLE.value or not _OUT.value:
    raise errors.UserError(
        'Convert what, and where to? Give --table=logs.csv --out=logs.npz.')
  out = pathlib.Path(_OUT.value)
  if out.suffix not in ('.npz', '.hdf5', '.h5'):
    raise errors.UserError(
        f'--out={out} must end in .npz or .hdf5: those are what training '
        'reads.')
  from drvf_tf.data import card, files, loading, tables
  source = pathlib.Path(_TABLE.value)
  arrays = tables.to_arrays(tables.read_csv(source), tables.Layout(
      _EPISODE.value, _STEP.value, _OBSERVATIONS.value, _ACTIONS.value,
      _REWARD.value, _TERMINAL.value or None, _LOG_PROB.value), source.name)
  if _LOW.value or _HIGH.value:
    arrays['action_low'] = _bound('action_low', _LOW.value)
    arrays['action_high'] = _bound('action_high', _HIGH.value)
  dataset = loading.from_arrays(
      arrays, out.stem, provenance=source.name, action_bounds=None,
      own_logs=True)
  files.write(out, arrays, f'converted from {source.name}')
  print(card.to_text(card.make(dataset)))
  left = len(arrays['rewards']) - dataset.size
  print(f'\nWrote {out}: {len(arrays["rewards"]):,} rows. Training leaves out '
        f'{left:,} of them, the last of episodes that were cut: what followed '
        'is in no row.')


def _bound(name: str, words: Sequence[str]) -> Sequence[float]:
  try:
    return [float(word) for word in words or ()]
  except ValueError as error:
    raise errors.UserError(
        f'--{name}={",".join(words)} must be numbers, one for each action.'
    ) from error


if __name__ == '__main__':
  errors.run(main)
