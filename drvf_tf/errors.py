"""What can go wrong, as sentences with a cause and a cure.

`UserError` is the one exception for what a user can mend: launch scripts print
it without a traceback and exit with 2.
"""
import contextlib
import errno
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Callable

from absl import app, logging

from drvf_tf import project_files


class UserError(Exception):
  """Something the user can mend; the message names the cause and the cure."""


def run(main: Callable[[Sequence[str]], None]) -> None:
  """`absl.app.run` for launch scripts, with user errors in one sentence."""
  script = sys.modules['__main__']  # --help shows its docstring
  script.__doc__ = project_files.as_typed(script.__doc__ or '')

  def guarded(argv: Sequence[str]) -> None:
    try:
      main(argv)
    except UserError as error:
      print(f'error: {project_files.as_typed(plain(error))}', file=sys.stderr)
      sys.exit(2)

  app.run(guarded)


class Interrupted(Exception):
  """A signal stopped the run, which was saved at `step`."""

  def __init__(self, step: int, exit_code: int):
    super().__init__(
        f'Stopped and saved at step {step:,}: the same command resumes '
        'there.')
    self.exit_code = exit_code


class DivergedError(Exception):
  """A loss, a metric or a variable is NaN, infinite or out of bounds."""


def plain(error: Exception) -> str:
  """The message without the notes that gin adds on its way up."""
  return str(error).split('\n  In call to configurable')[0]


@contextlib.contextmanager
def of_configuration() -> Iterator[None]:
  """What constructors refuse is what the user's gin files say."""
  try:
    yield
  except (TypeError, ValueError) as error:
    logging.debug('The configuration was refused.', exc_info=True)
    culprit = re.search(r"In call to configurable '(\w+)'", str(error))
    where = f'{culprit.group(1)}: ' if culprit else ''
    text = ' '.join(plain(error).split())
    raise UserError(
        f'The configuration cannot be used: {where}{text}') from error


@contextlib.contextmanager
def of_divergence(folder: pathlib.Path) -> Iterator[None]:
  """A run that diverged is told where its last good state is."""
  try:
    yield
  except DivergedError as error:
    raise UserError(
        f'Training diverged: {error}. No bad checkpoint was written, the last '
        f'good ones are in {folder / "checkpoints"}; the same command would '
        'diverge again: try a smaller eta_ood, a larger eta_q or layer_norm, '
        'in a new --run.') from error


@contextlib.contextmanager
def of_disk(folder: pathlib.Path) -> Iterator[None]:
  """A disk that is full or cannot be written to loses nothing."""
  try:
    yield
  except OSError as error:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES,
                           errno.EROFS, errno.EIO):
      raise
    raise _disk_error(folder, error.strerror) from error
  except Exception as error:
    # TensorFlow's own kind, known without importing it.
    if 'No space left' not in getattr(error, 'message', ''):
      raise
    raise _disk_error(folder, 'No space left on device') from error


def _disk_error(folder: pathlib.Path, reason: str) -> UserError:
  return UserError(
      f'{folder} could not be written to ({reason}): make room, and the same '
      'command resumes from the last checkpoint; nothing of it is lost.')
