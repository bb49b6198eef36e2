"""Ranks checkpoints and runs by what data say of them; no simulator is asked.

python launch/select_.py runs/own_data --out=selection
python launch/select_.py --run=runs/quickstart --run=runs/quickstart+edac
"""
import json
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
    'out', 'selection', 'Folder for selection.json, the picture, and what was '
    'evaluated, which is not evaluated again.')
_DISCOUNT = flags.DEFINE_float(
    'discount', None, "Of the value; the first run's by default.",
    lower_bound=0.01, upper_bound=0.9999)
_SCORES = flags.DEFINE_string(
    'scores', None, 'A CSV file with the columns run, step and score, to judge '
    "the criteria by; the runs' own evaluations by default.")
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], "A gin binding on top of each run's configuration, e.g. "
    'FittedQEvaluation.num_steps=20000.')


def main(argv: Sequence[str]) -> None:
  """Evaluates every checkpoint, ranks them, judges the criteria."""
  named = [*_RUN.value, *argv[1:]]
  if not named:
    raise errors.UserError(
        'Select among what? Name run folders, or a folder to search for them, '
        'e.g. --run=runs/own_data.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  from drvf_tf.ope import ranking, selection, selection_picture
  from drvf_tf.runs import run_folder
  runs, empty = selection.folders(named)
  for run in empty:
    print(f'{run} has no checkpoint and is left out.', file=sys.stderr)
  out = pathlib.Path(_OUT.value)
  out.mkdir(parents=True, exist_ok=True)
  scores = (selection.read_scores(pathlib.Path(_SCORES.value))
            if _SCORES.value else None)
  found = []
  for one in selection.candidates(
      runs, _DISCOUNT.value, out / 'evaluated.jsonl', _GIN_PARAM.value, scores):
    found.append(one)
    print(f'{len(found):4}  {one.run}, step {one.step:,}', file=sys.stderr)
  print(ranking.table(found), ranking.verdicts(found), sep='\n\n')
  run_folder.write_atomically(out / 'selection.json', json.dumps({
      'candidates': [one._asdict() for one in found],
      'criteria': [one._asdict() for one in ranking.judge(found)]},
      indent=2) + '\n')
  written = [out / 'selection.json']
  if ranking.judge(found):
    written.append(selection_picture.save(found, out / 'selection.png'))
  print(f'\nwritten: {", ".join(map(str, written))}')


if __name__ == '__main__':
  errors.run(main)
