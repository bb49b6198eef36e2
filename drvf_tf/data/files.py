"""Files of data: where they are, how they are read and written."""
import os
import pathlib
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Mapping
from typing import Optional

import h5py
import numpy as np
import tqdm

from drvf_tf import errors
from drvf_tf.data import validation

DIRECTORY_VARIABLE = 'D4RL_DATASET_DIR'
_CHUNK_BYTES = 1 << 20
_KEYS = validation.REQUIRED + validation.OPTIONAL + validation.BOUNDS


class DatasetNotFoundError(errors.UserError):
  """There is no such file, and it could not be downloaded."""


def folders() -> list[pathlib.Path]:
  """Where datasets are looked for, in this order."""
  default = pathlib.Path.home() / '.d4rl' / 'datasets'
  chosen = os.environ.get(DIRECTORY_VARIABLE)
  return [pathlib.Path(chosen).expanduser(), default] if chosen else [default]


def find(file_name: str) -> Optional[pathlib.Path]:
  """The first folder's file of that name."""
  for folder in folders():
    if (folder / file_name).is_file():
      return folder / file_name
  return None


def writable_folder() -> pathlib.Path:
  """The first folder that new files can be written to."""
  for folder in folders():
    try:
      folder.mkdir(parents=True, exist_ok=True)
      if not folder.stat().st_mode & 0o222:
        continue  # marked read-only, though root could write
      with tempfile.TemporaryFile(dir=folder):
        return folder
    except OSError:
      continue
  raise errors.UserError(
      f'no dataset can be stored: {" and ".join(map(str, folders()))} cannot '
      f'be written to; set {DIRECTORY_VARIABLE} to a folder that can.')


def download(url: str, alternative: str) -> pathlib.Path:
  """Downloads a file of D4RL with a progress bar; whole or not at all.

  Args:
    url: the file's address.
    alternative: what the user can do without a network, as a sentence.

  Returns:
    The path of the complete file.
  """
  target = writable_folder() / url.rsplit('/', 1)[1]
  partial = target.with_name(f'.{target.name}.{os.getpid()}.part')
  try:
    with urllib.request.urlopen(url, timeout=30) as answer, \
        open(partial, 'wb') as file:
      total = int(answer.headers.get('Content-Length') or 0)
      with tqdm.tqdm(total=total or None, unit='B', unit_scale=True,
                     desc=target.name) as bar:
        while chunk := answer.read(_CHUNK_BYTES):
          file.write(chunk)
          bar.update(len(chunk))
    if total and partial.stat().st_size != total:
      raise OSError('the connection ended early')
    os.replace(partial, target)
  except (OSError, urllib.error.URLError) as error:
    raise DatasetNotFoundError(
        f'{target.name} is not in {" or ".join(map(str, folders()))}, and '
        f'could not be downloaded from {url} ({error}): put the file there. '
        f'{alternative}') from error
  finally:
    partial.unlink(missing_ok=True)
  return target


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
  """The arrays of an HDF5 or npz file, in D4RL's v0, v1 or v2 layout."""
  if not path.is_file():
    raise DatasetNotFoundError(
        f'there is no file {path}: check the path, or name a D4RL task.')
  try:
    arrays = _read_npz(path) if path.suffix == '.npz' else _read_hdf5(path)
  except (OSError, EOFError, KeyError, ValueError,
          zipfile.BadZipFile) as error:
    if 'allow_pickle' in str(error):
      raise validation.NotNumbersError(
          f'{path} holds Python objects, which are not loaded: save plain '
          'arrays of numbers, the rows of all episodes one below the other.'
      ) from error
    raise validation.TruncatedFileError(
        f'{path} is not a whole {path.suffix.lstrip(".") or "HDF5"} file '
        f'({error}): delete it and download or collect it again.') from error
  # v1 files have rewards and flags as columns.
  for key in ('rewards', 'terminals', 'timeouts'):
    if key in arrays and arrays[key].ndim == 2 and arrays[key].shape[1] == 1:
      arrays[key] = arrays[key][:, 0]
  return arrays


def _read_hdf5(path: pathlib.Path) -> dict[str, np.ndarray]:
  with h5py.File(path, 'r') as file:
    return {key: file[key][()] for key in _KEYS if key in file}


def _read_npz(path: pathlib.Path) -> dict[str, np.ndarray]:
  with np.load(path) as file:
    return {key: file[key] for key in _KEYS if key in file}


def provenance(path: pathlib.Path) -> str:
  """What the file says about its origin, or its name."""
  if path.suffix == '.npz':
    with np.load(path) as file:
      note = str(file['note']) if 'note' in file else None
  else:
    with h5py.File(path, 'r') as file:
      note = file.attrs.get('note')
  return path.name if note is None else f'{path.name} ({note})'


def write(path: pathlib.Path, arrays: Mapping[str, np.ndarray],
          note: str) -> None:
  """Writes D4RL's format; the file appears only when it is whole.

  Args:
    path: the file to write: HDF5, or npz by its name.
    arrays: by D4RL's keys; 'infos/goal' makes a group of HDF5.
    note: where the data come from; `provenance` reads it back.
  """
  path.parent.mkdir(parents=True, exist_ok=True)
  partial = path.with_name(f'.{path.name}.{os.getpid()}.part')
  try:
    if path.suffix == '.npz':
      with open(partial, 'wb') as stream:
        np.savez_compressed(stream, note=note, **arrays)
      os.replace(partial, path)
      return
    with h5py.File(partial, 'w') as file:
      for key in sorted(arrays):
        file.create_dataset(key, data=arrays[key], compression='gzip')
      file.attrs['note'] = note
    os.replace(partial, path)
  finally:
    partial.unlink(missing_ok=True)
