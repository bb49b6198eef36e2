"""A fitted model on disk: arrays without pickle, facts, a checksum."""
import json
import os
import pathlib
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Optional

import numpy as np

from drvf_tf import errors
from drvf_tf.dynamics import dynamics_ensemble
from drvf_tf.runs import checkpoint_files, run_folder, run_reader

_ARRAYS, _FACTS = 'model.npz', 'model.json'


class Fitted(NamedTuple):
  """A model and how it came to be.

  Attributes:
    model: The networks.
    facts: In JSON's terms: `identity` (what the model is a function of),
      `held_out_mse`, `epochs`, `steps`, `seconds`, `cpu_seconds`.
  """
  model: dynamics_ensemble.DynamicsEnsemble
  facts: dict[str, Any]


def save(folder: pathlib.Path, fitted: Fitted) -> None:
  """Writes a model; who sees its facts sees the whole of it."""
  folder.mkdir(parents=True, exist_ok=True)
  unfinished = folder / f'.{_ARRAYS}'
  with open(unfinished, 'wb') as file:
    np.savez(file, **{name: variable.numpy() for name, variable
                      in fitted.model.arrays().items()})
    file.flush()
    os.fsync(file.fileno())
  digest = checkpoint_files.sha256(unfinished)
  os.replace(unfinished, folder / _ARRAYS)
  run_folder.write_atomically(folder / _FACTS, json.dumps(
      {'sha256': digest, **fitted.facts}, indent=2) + '\n')


def load(folder: pathlib.Path,
         identity: Optional[Mapping[str, Any]] = None) -> Optional[Fitted]:
  """Reads a model.

  Args:
    folder: Where it was saved.
    identity: What it must be a function of; None for any.

  Returns:
    The model; None where there is none, or another.

  Raises:
    UserError: It is damaged.
  """
  try:
    facts = json.loads((folder / _FACTS).read_text(encoding='utf-8'))
  except OSError:
    return None
  except ValueError as error:
    raise _damaged(folder) from error
  if identity is not None and facts.get('identity') != dict(identity):
    return None
  try:
    if checkpoint_files.sha256(folder / _ARRAYS) != facts.pop('sha256'):
      raise _damaged(folder)
    with np.load(folder / _ARRAYS, allow_pickle=False) as arrays:
      model = dynamics_ensemble.DynamicsEnsemble.from_arrays(arrays)
  except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
    raise _damaged(folder) from error
  return Fitted(model, facts)


def find(run: pathlib.Path,
         identity: Mapping[str, Any]) -> Optional[tuple[pathlib.Path, Fitted]]:
  """Looks for a model in a run folder and in those beside it.

  Args:
    run: The run folder.
    identity: What the model must be a function of.

  Returns:
    The run folder that has it, its own first, and the model.
  """
  for place in _places(run):
    try:
      found = load(run_reader.RunReader(place).dynamics_folder, identity)
    except errors.UserError:
      if place == run:
        raise
      continue  # another run's, and its own matter
    if found is not None:
      return place, found
  return None


def _places(run: pathlib.Path) -> Iterator[pathlib.Path]:
  """A run, its siblings, and runs of the same name beside their folder."""
  yield run
  home = run.absolute().parent
  yield from (path for path in _inside(home) if path.name != run.name)
  yield from (path / run.name for path in _inside(home.parent) if path != home)


def _inside(folder: pathlib.Path) -> list[pathlib.Path]:
  try:
    return sorted(folder.iterdir())
  except OSError:
    return []


def _damaged(folder: pathlib.Path) -> errors.UserError:
  return errors.UserError(
      f'The dynamics model in {folder} is damaged (its checksum does not '
      'agree): delete that folder, and the same command fits it again.')
