"""Errors a user can mend: one sentence, no traceback, exit code 2."""
import sys
from typing import Callable, Sequence

from absl import app


class UserError(Exception):
  """Something the user can mend; the message names the cause and the cure."""


def run(main: Callable[[Sequence[str]], None]) -> None:
  """`absl.app.run` for launch scripts, with user errors in one sentence."""

  def guarded(argv: Sequence[str]) -> None:
    try:
      main(argv)
    except UserError as error:
      print(f'error: {error}', file=sys.stderr)
      sys.exit(2)

  app.run(guarded)
