"""Command lines that train runs again."""
import os
import re
import shlex
from collections.abc import Sequence

from drvf_tf import project_files
from drvf_tf.runs import finished as runs_lib
from drvf_tf.runs import settings


def reproduce(run: runs_lib.Run) -> str:
  """A command line that trains a run again."""
  words = run.command
  train = project_files.as_typed('python launch/train.py')
  if not words or os.path.basename(words[0]) != 'train.py':
    return (f'{train} --gin_file='
            f'{shlex.quote(str(run.path / "config.gin"))} --seed={run.seed}')
  kept = without(words[1:], ('run', 'run_dir', 'seed'))
  return ' '.join([train, *map(shlex.quote, kept), f'--seed={run.seed}'])


def without(words: Sequence[str], flags: Sequence[str]) -> list[str]:
  """The words of a command line but for some flags and their values."""
  kept: list[str] = []
  skip = False
  for word in words:
    name, equals, _ = word.partition('=')
    flag = name.startswith('-') and name.lstrip('-') in flags
    if not skip and not flag:
      kept.append(word)
    skip = flag and not equals  # the value is the next word
  return kept


def bindings(run: runs_lib.Run) -> dict[str, str]:
  """What the command line bound on top of its gin files."""
  found: dict[str, str] = {}
  words = iter(run.command)
  for word in words:
    flag, equals, text = word.partition('=')
    if flag.startswith('-') and flag.lstrip('-') == 'gin_param':
      found.update(settings.read(text if equals else next(words, '')))
  return found


def fold(command: str, width: int = 100) -> str:
  """Breaks a long command between its flags, so that a page need not."""
  lines: list[str] = []
  for part in re.split(r' (?=--)', command):
    if lines and len(lines[-1]) + len(part) < width:
      lines[-1] += f' {part}'
    else:
      lines.append(part)
  return ' \\\n  '.join(lines)
