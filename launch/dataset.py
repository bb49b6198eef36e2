"""Prints a dataset's card; writes it as JSON and as a picture.

  python launch/dataset.py --dataset=maze2d-umaze-v1 --output_dir=/tmp/card
"""
import json
import pathlib

from absl import app, flags

from drvf_tf import errors

_DATASET = flags.DEFINE_string(
    'dataset', None, "A D4RL task's name, the path of an HDF5 or npz file, or "
    'minari:<id>.', required=True)
_TASK = flags.DEFINE_string(
    'task', None, 'The task a file was recorded in: checks bounds and sizes, '
    'and gives the normalised score.')
_OUTPUT_DIR = flags.DEFINE_string(
    'output_dir', None, 'Folder for card.json and card.png.')


def main(argv) -> None:
  """Flags, one dataset, one card."""
  if len(argv) > 1:
    raise app.UsageError(f'unknown arguments: {argv[1:]}')
  from drvf_tf.data import card, card_picture, loading
  dataset = loading.read(_DATASET.value, _TASK.value, drop_unknown_next=False)
  content = card.make(dataset)
  print(card.to_text(content))
  if _OUTPUT_DIR.value:
    folder = pathlib.Path(_OUTPUT_DIR.value)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'card.json').write_text(json.dumps(content, indent=2) + '\n')
    card_picture.save(dataset, folder / 'card.png')
    print(f'written: {folder / "card.json"} and {folder / "card.png"}')


if __name__ == '__main__':
  errors.run(main)
