"""Atomic, verified checkpoints: the last k and the best."""
import hashlib
import json
import os
import pathlib
import shutil
from typing import Any, Dict, List, Optional

import numpy as np
import tensorflow as tf

from drvf_tf import errors

_STATE = 'state.json'
_BEST = 'best'


class Checkpoints:
  """Folders `step_<step>` and `best`, each whole or not there at all."""

  def __init__(self, folder: pathlib.Path, keep: int, **trackables: Any):
    """Creates it; nothing is written yet.

    Args:
      folder: Where checkpoints are kept.
      keep: How many of the last ones are kept, besides the best.
      **trackables: What is saved.
    """
    if keep < 1:
      raise ValueError(f'keep_checkpoints must be at least 1, not {keep}.')
    self._folder, self._keep = folder, keep
    self._checkpoint = tf.train.Checkpoint(**trackables)
    self._trackables = trackables

  def steps(self) -> List[int]:
    """The steps of the checkpoints on disk, in order."""
    return sorted(int(path.name.split('_')[1])
                  for path in self._folder.glob('step_*'))

  def save(self, step: int, state: Dict[str, Any],
           prune: bool = True) -> None:
    """Writes a checkpoint, then drops the oldest.

    Args:
      step: Of the checkpoint.
      state: Anything else that `restore` shall give back, in JSON's terms.
      prune: Whether the oldest are dropped.

    Raises:
      DivergedError: A variable is NaN or infinite; nothing was written.
    """
    target = self._path(step)
    if target.exists():
      return
    self._check_finite()
    temporary = self._folder / f'.step_{step}.new'
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
      self._checkpoint.write(str(temporary / 'ckpt'))
      files = sorted(temporary.iterdir())
      content = {'step': step, 'state': state,
                 'sha256': {path.name: _sha256(path) for path in files}}
      (temporary / _STATE).write_text(json.dumps(content), encoding='utf-8')
      for path in [*files, temporary / _STATE]:
        _fsync(path)
      os.rename(temporary, target)
      _fsync(self._folder)
    except BaseException:
      shutil.rmtree(temporary, ignore_errors=True)
      raise
    if prune:
      for old in self.steps()[:-self._keep]:
        _remove(self._path(old))

  def restore(self, step: int) -> Dict[str, Any]:
    """Restores a checkpoint and gives its state."""
    path = self._path(step)
    state = self._verified(path)
    self._checkpoint.read(str(path / 'ckpt')).assert_consumed()
    return state

  def offer_best(self, step: int, score: float) -> None:
    """Keeps the checkpoint of a step if its score is the best so far."""
    source, target = self._path(step), self._folder / _BEST
    if not source.exists():
      return
    best = self.best_score()
    if best is not None and best >= score:
      return
    temporary = self._folder / f'.{_BEST}.new'
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.copytree(source, temporary, copy_function=os.link)
    (temporary / 'score.json').write_text(
        json.dumps({'step': step, 'score': score}), encoding='utf-8')
    if target.exists():
      _remove(target)
    os.rename(temporary, target)

  def best_score(self) -> Optional[float]:
    """The score of the best checkpoint, where there is one."""
    path = self._folder / _BEST / 'score.json'
    return json.loads(path.read_text())['score'] if path.exists() else None

  def _path(self, step: int) -> pathlib.Path:
    return self._folder / f'step_{step:09d}'

  def _check_finite(self) -> None:
    for trackable in self._trackables.values():
      for variable in getattr(trackable, 'variables', [trackable]):
        if (variable.dtype.is_floating
            and not np.isfinite(variable.numpy()).all()):
          raise errors.DivergedError(
              f'the variable {variable.name} holds NaN or infinity')

  def _verified(self, path: pathlib.Path) -> Dict[str, Any]:
    try:
      content = json.loads((path / _STATE).read_text(encoding='utf-8'))
      whole = all(_sha256(path / name) == digest
                  for name, digest in content['sha256'].items())
    except (OSError, ValueError, KeyError):
      whole = False
    if not whole:
      others = [step for step in self.steps() if self._path(step) != path]
      goes_on = (f'from step {others[-1]:,}' if others else 'from the start')
      raise errors.UserError(
          f'The checkpoint {path} is damaged (its checksums do not agree): '
          f'delete that folder, and the same command goes on {goes_on}.')
    return content['state']


def _remove(path: pathlib.Path) -> None:
  """Removes a folder, out of sight first: half of it is never seen."""
  hidden = path.with_name(f'.{path.name}.old')
  shutil.rmtree(hidden, ignore_errors=True)
  os.rename(path, hidden)
  shutil.rmtree(hidden, ignore_errors=True)


def _sha256(path: pathlib.Path) -> str:
  return hashlib.sha256(path.read_bytes()).hexdigest()


def _fsync(path: pathlib.Path) -> None:
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)
