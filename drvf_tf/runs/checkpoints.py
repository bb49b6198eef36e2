"""Atomic, verified checkpoints: the last k, the best, every so often one."""
import json
import os
import pathlib
import shutil
from typing import Any, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.runs import checkpoint_files

_SCORE = 'score.json'


class Resumed(NamedTuple):
  """Where a run resumes.

  Attributes:
    step: Of the checkpoint that was restored.
    state: What was saved with it.
    damaged: Newer checkpoints that are damaged.
  """
  step: int
  state: dict[str, Any]
  damaged: list[pathlib.Path]


class Checkpoints:
  """Folders `step_<step>` and `best`, each whole or not there at all."""

  def __init__(self, folder: pathlib.Path, keep: int,
               every: Optional[int] = None, **trackables: Any):
    """Creates it; nothing is written yet.

    Args:
      folder: Where checkpoints are kept.
      keep: How many of the last ones are kept, besides the best.
      every: Those of its multiples are kept for ever; None for none.
      **trackables: What is saved.
    """
    if keep < 1:
      raise ValueError(f'keep_checkpoints must be at least 1, not {keep}.')
    self._folder, self._keep, self._every = folder, keep, every
    self._checkpoint = tf.train.Checkpoint(**trackables)
    self._trackables = trackables

  def steps(self) -> list[int]:
    """The steps of the checkpoints on disk, in order."""
    return checkpoint_files.steps(self._folder)

  def save(self, step: int, state: dict[str, Any],
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
                 'sha256': {path.name: checkpoint_files.sha256(path)
                            for path in files}}
      state_file = temporary / checkpoint_files.STATE
      state_file.write_text(json.dumps(content), encoding='utf-8')
      for path in [*files, state_file]:
        _fsync(path)
      os.rename(temporary, target)
      _fsync(self._folder)
    except BaseException:
      shutil.rmtree(temporary, ignore_errors=True)
      raise
    if prune:
      for old in self.steps()[:-self._keep]:
        if self._every is None or old % self._every:
          _remove(self._path(old))

  def restore(self, step: int) -> dict[str, Any]:
    """Restores a checkpoint and gives its state; `Damaged` if not whole."""
    path = self._path(step)
    state = checkpoint_files.state(path)
    self._checkpoint.read(str(path / 'ckpt')).assert_consumed()
    return state

  def resume(self) -> Optional[Resumed]:
    """Restores the newest whole checkpoint; None where there are none at all.

    Raises:
      UserError: There are some, but none is whole.
    """
    damaged: list[pathlib.Path] = []
    for step in reversed(self.steps()):
      try:
        return Resumed(step, self.restore(step), damaged)
      except checkpoint_files.Damaged:
        damaged.append(self._path(step))
    if damaged:
      raise errors.UserError(
          f'No checkpoint of {self._folder} is whole (checksums do not agree '
          f'in {", ".join(path.name for path in damaged)}): delete that '
          'folder, and the same command starts again from step 0.')
    return None

  def set_aside(self, resumed: Resumed) -> None:
    """Takes away what the run writes again, from where it resumes."""
    for path in resumed.damaged:
      aside = path.with_name(f'damaged_{path.name}')
      shutil.rmtree(aside, ignore_errors=True)
      os.rename(path, aside)
    best = self._best()
    # It shares its files with a checkpoint that may be damaged; what was the
    # best of all up to its step will be so again.
    if best is not None and best['step'] > resumed.step:
      _remove(self._folder / checkpoint_files.BEST)

  def offer_best(self, step: int, score: float) -> None:
    """Keeps the checkpoint of a step if its score is the best so far."""
    source, target = self._path(step), self._folder / checkpoint_files.BEST
    if not source.exists():
      return
    best = self.best_score()
    if best is not None and best >= score:
      return
    temporary = target.with_name(f'.{target.name}.new')
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.copytree(source, temporary, copy_function=os.link)
    (temporary / _SCORE).write_text(
        json.dumps({'step': step, 'score': score}), encoding='utf-8')
    if target.exists():
      _remove(target)
    os.rename(temporary, target)

  def best_score(self) -> Optional[float]:
    """The score of the best checkpoint, where there is one."""
    best = self._best()
    return None if best is None else best['score']

  def _best(self) -> Optional[dict[str, Any]]:
    path = self._folder / checkpoint_files.BEST / _SCORE
    return json.loads(path.read_text()) if path.exists() else None

  def _path(self, step: int) -> pathlib.Path:
    return checkpoint_files.of_step(self._folder, step)

  def _check_finite(self) -> None:
    for trackable in self._trackables.values():
      for variable in getattr(trackable, 'variables', [trackable]):
        if (variable.dtype.is_floating
            and not np.isfinite(variable.numpy()).all()):
          raise errors.DivergedError(
              f'the variable {variable.name} holds NaN or infinity')


def _remove(path: pathlib.Path) -> None:
  """Removes a folder, out of sight first: half of it is never seen."""
  hidden = path.with_name(f'.{path.name}.old')
  shutil.rmtree(hidden, ignore_errors=True)
  os.rename(path, hidden)
  shutil.rmtree(hidden, ignore_errors=True)


def _fsync(path: pathlib.Path) -> None:
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)
