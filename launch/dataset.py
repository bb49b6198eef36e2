"""Prints a dataset's card; writes it as JSON and as a picture.

  python launch/dataset.py --dataset=maze2d-umaze-v1 --out=/tmp/card
"""
import json
import pathlib
import sys

from absl import flags

_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402

_DATASET = flags.DEFINE_string(
    'dataset', None, "A D4RL task's name, the path of an HDF5 or npz file, or "
    'minari:<id>.', required=True)
_TASK = flags.DEFINE_string(
    'task', None, 'The task a file was recorded in: checks bounds and sizes, '
    'and gives the normalised score.')
_OUT = flags.DEFINE_string(
    'out', None, 'Folder for card.json and card.png.')


def main(argv) -> None:
  """Flags, one dataset, one card."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name the data with --dataset=...')
  from drvf_tf.data import card, card_picture, loading
  dataset = loading.read(_DATASET.value, _TASK.value, drop_unknown_next=False)
  content = card.make(dataset)
  print(card.to_text(content))
  if _OUT.value:
    folder = pathlib.Path(_OUT.value)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'card.json').write_text(json.dumps(content, indent=2) + '\n')
    card_picture.save(dataset, folder / 'card.png')
    print(f'written: {folder / "card.json"} and {folder / "card.png"}')


if __name__ == '__main__':
  errors.run(main)
