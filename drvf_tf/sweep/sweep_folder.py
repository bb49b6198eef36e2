"""The folder of a sweep: one sweep at a time, and a way to tell it to stop."""
import fcntl
import pathlib
from typing import Any

from drvf_tf import errors


class SweepFolder:
  """Holds the folder's lock while it is open."""

  def __init__(self, path: pathlib.Path):
    """Creates the folder and takes its lock.

    Args:
      path: The folder; it need not exist.

    Raises:
      UserError: It cannot be written to, or another sweep works in it.
    """
    self.path = path
    self.stop = path / '.sweep.stop'
    try:
      path.mkdir(parents=True, exist_ok=True)
      self._lock = open(path / '.sweep.lock', 'a', encoding='utf-8')
      fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
      self.stop.unlink(missing_ok=True)
    except BlockingIOError as error:
      raise errors.UserError(
          f'Another sweep is running in {path}: wait for it, stop it, or '
          'choose another --out.') from error
    except OSError as error:
      raise errors.UserError(
          f'The folder {path} cannot be written to ({error.strerror}): choose '
          'another with --out.') from error

  def __enter__(self) -> 'SweepFolder':
    return self

  def __exit__(self, *unused: Any) -> None:
    self.stop.unlink(missing_ok=True)
    self._lock.close()
