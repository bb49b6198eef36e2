"""Where the project's own files are: gin/, sweeps/, launch/, benchmarks/.

In a checkout they are beside the package; setup.py maps them into the wheel,
below drvf_tf/project. Either way they are called by the same names, such as
gin/hopper_medium.gin, from whichever folder a command is started in.
"""
import pathlib
import re
from typing import Optional

_PACKAGE = pathlib.Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / 'project'
# Where an installed package has its files; else the checkout.
ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent


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
  """A text with its commands as they can be typed here.

  Args:
    text: With commands as in a checkout, `python launch/train.py ...`.

  Returns:
    The same in a checkout; with `drvf train ...` in an installed package,
    which has no such file at hand.
  """
  if is_checkout():
    return text
  return re.sub(r'(?:python )?launch/(\w+)\.py', r'drvf \1', text)
