"""Checkpoints as folders: their names, and whether they are whole.

Without TensorFlow, for those who only look.
"""
import hashlib
import json
import pathlib
import re
from typing import Any

from drvf_tf import errors

STATE = 'state.json'
BEST = 'best'


class Damaged(errors.UserError):
  """A checkpoint that is not as it was written."""

  def __init__(self, path: pathlib.Path):
    super().__init__(
        f'The checkpoint {path} is damaged (its checksums do not agree): '
        'choose another with --checkpoint.')


def steps(folder: pathlib.Path) -> list[int]:
  """The steps of the checkpoints in a folder, in order."""
  names = (re.fullmatch(r'step_(\d+)', path.name)
           for path in folder.glob('step_*'))
  return sorted(int(name.group(1)) for name in names if name)


def of_step(folder: pathlib.Path, step: int) -> pathlib.Path:
  """Where the checkpoint of a step is."""
  return folder / f'step_{step:09d}'


def find(run: pathlib.Path, folder: pathlib.Path,
         checkpoint: str) -> pathlib.Path:
  """A checkpoint by its name, whole.

  Args:
    run: Whose checkpoint, for messages.
    folder: Where its checkpoints are.
    checkpoint: 'last', 'best', or a step.

  Returns:
    Its folder, with the checksums checked.

  Raises:
    UserError: There is no such checkpoint, or it is damaged.
  """
  known = steps(folder)
  if not known:
    raise errors.UserError(
        f'{run} has no checkpoint yet: the first is written after '
        'train_eval.checkpoint_interval steps.')
  named = {str(step): of_step(folder, step) for step in known}
  path = {**named, 'last': of_step(folder, known[-1]),
          BEST: folder / BEST}.get(checkpoint)
  if path is None or not path.exists():
    raise errors.UserError(
        f'{run} has no checkpoint {checkpoint!r}: there are last, best and '
        f'{", ".join(named)}.')
  state(path)
  return path


def state(path: pathlib.Path) -> dict[str, Any]:
  """What a checkpoint holds besides variables; its files are checked.

  Args:
    path: Of the checkpoint.

  Returns:
    What was saved with it, in JSON's terms.

  Raises:
    Damaged: A file is missing, or its checksum does not agree.
  """
  try:
    content = json.loads((path / STATE).read_text(encoding='utf-8'))
    whole = all(sha256(path / name) == digest
                for name, digest in content['sha256'].items())
    found = content['state']
  except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
    raise Damaged(path) from error
  if not whole:
    raise Damaged(path)
  return found


def sha256(path: pathlib.Path) -> str:
  """The checksum of a file."""
  return hashlib.sha256(path.read_bytes()).hexdigest()
