"""What was collected, on disk: rows are only ever added at the end.

A checkpoint says how many rows are its own and what their checksum is: they
are on the disk before it is, and what a killed process wrote after it is cut
off when the run resumes.
"""
import os
import pathlib
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from drvf_tf import errors

_VECTORS = ('observations', 'actions', 'next_observations')


class Layout(NamedTuple):
  """The columns of a row, float32 each.

  Attributes:
    observation: Width of s and of s'.
    action: Width of a.
    uncertainty: Whether q_std and in_support are noted.
  """
  observation: int
  action: int
  uncertainty: bool

  @property
  def widths(self) -> dict[str, int]:
    """Of each column, in order; observations and rewards are the task's."""
    widths = {'observations': self.observation, 'actions': self.action,
              'rewards': 1, 'discounts': 1,
              'next_observations': self.observation, 'episode_ends': 1}
    if self.uncertainty:
      widths.update(q_std=1, in_support=1)
    return widths

  @property
  def width(self) -> int:
    """Of a row."""
    return sum(self.widths.values())

  def split(self, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Columns by name: `[N, width]` of s, a and s', `[N]` of the others."""
    ends = np.cumsum(list(self.widths.values()))
    parts = np.split(rows, ends[:-1], axis=1)
    return {name: part if name in _VECTORS else part[:, 0]
            for name, part in zip(self.widths, parts)}


def read(path: pathlib.Path, facts: Mapping[str, Any]) -> dict[str, np.ndarray]:
  """The columns of a fine-tuning's rows.

  Args:
    path: The file.
    facts: 'layout' of the run's run.json.

  Returns:
    See `Layout.widths`.
  """
  layout = Layout(**facts)
  rows = np.fromfile(path, np.float32)
  whole = len(rows) // layout.width
  return layout.split(rows[:whole * layout.width].reshape(whole, layout.width))


class CollectedRows:
  """The file of a fine-tuning that this process writes to."""

  def __init__(self, path: pathlib.Path, width: int):
    """Opens nothing yet.

    Args:
      path: The file; it need not exist.
      width: Of a row.
    """
    self._path, self._width = path, width
    self.checksum = 0

  def begin(self, count: int, checksum: int) -> np.ndarray:
    """Cuts the file to the rows of a checkpoint, and gives them.

    Args:
      count: Rows of the checkpoint.
      checksum: Of these.

    Returns:
      `[count, width]`.

    Raises:
      UserError: They are not what was written.
    """
    size = 4 * count * self._width
    content = self._path.read_bytes()[:size] if self._path.exists() else b''
    if len(content) != size or zlib.crc32(content) != checksum:
      raise errors.UserError(
          f'{self._path} does not hold the {count:,} rows that the last '
          'checkpoint has collected: bring the file back, or delete the '
          'folder and start again.')
    with open(self._path, 'ab') as file:
      file.truncate(size)
    self.checksum = checksum
    return np.frombuffer(content, np.float32).reshape(count, self._width)

  def add(self, rows: np.ndarray) -> None:
    """Writes rows `[N, width]`, through to the disk."""
    content = np.ascontiguousarray(rows, np.float32).tobytes()
    with open(self._path, 'ab') as file:
      file.write(content)
      file.flush()
      os.fsync(file.fileno())
    self.checksum = zlib.crc32(content, self.checksum)
