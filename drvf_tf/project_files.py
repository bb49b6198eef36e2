"""Where the project's own files are: gin/, sweeps/, launch/, benchmarks/.

In a checkout they are beside the package; setup.py maps them into the wheel,
below drvf_tf/project. Either way they are called by the same names, such as
gin/hopper_medium.gin, from whichever folder a command is started in.
"""
import pathlib
import re
import shlex
from collections.abc import Sequence
from typing import Optional

_PACKAGE = pathlib.Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / 'project'
# Where an installed package has its files; else the checkout.
ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
# Whether commands are typed as `drvf train`; in a checkout cli.py says so.
typed_drvf = ROOT == _IN_WHEEL


def is_checkout() -> bool:
  """Whether the package is used where its source is."""
  return ROOT != _IN_WHEEL


def find(file: str) -> Optional[pathlib.Path]:
  """The absolute path of a file, or None if there is none.

  Args:
    file: Looked for in the working directory, then in the project.
  """
  for folder in (pathlib.Path.cwd(), ROOT):
    if (folder / file).is_file():
      return folder / file
  return None


def name(path: pathlib.Path) -> str:
  """What to call a file: relative to the project for its own, else absolute."""
  path = path.resolve()
  return str(path.relative_to(ROOT) if ROOT in path.parents else path)


def launcher(command: str) -> pathlib.Path:
  """The script of a command, such as train."""
  return ROOT / 'launch' / f'{command}.py'


def commands() -> list[str]:
  """The commands there are."""
  return sorted(path.stem for path in (ROOT / 'launch').glob('[a-z]*.py'))


def as_typed(text: str) -> str:
  """A text with its commands as the user types them.

  Args:
    text: With commands as in a checkout, `python launch/train.py ...`.

  Returns:
    The same where that is what was typed; else with `drvf train ...`.
  """
  if not typed_drvf:
    return text
  return re.sub(r'(?:python )?launch/(\w+)\.py', r'drvf \1', text)


def command_line(command: Sequence[str]) -> str:
  """A command of ours as one line that can be typed.

  Args:
    command: An interpreter, a script of launch/ and its flags.
  """
  if not typed_drvf:
    return shlex.join(command)
  _, script, *words = command
  return shlex.join(['drvf', pathlib.Path(script).stem, *words])
