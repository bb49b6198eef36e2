"""The command `drvf`: what launch/ has, from any folder.

drvf train --task=hopper-medium-v2 --method=edac
"""
import ast
import difflib
import runpy
import sys
from collections.abc import Sequence
from typing import Optional

import drvf_tf
from drvf_tf import project_files


def main(arguments: Optional[Sequence[str]] = None) -> None:
  """Runs the command that the first argument names.

  Args:
    arguments: After the program's name; the process's own by default.
  """
  words = list(sys.argv[1:] if arguments is None else arguments)
  first = words[0] if words else '--help'
  if first in ('--help', '-h', '-help', 'help'):
    print(_help())
  elif first in ('--version', '-version', 'version'):
    print(f'drvf_tf {drvf_tf.__version__}')
  elif first in project_files.commands():
    # As if the script itself had been called: run folders record its command,
    # and absl lists its flags.
    path = str(project_files.launcher(first))
    sys.argv = [path, *words[1:]]
    project_files.typed_drvf = True
    runpy.run_path(path, run_name='__main__')
  else:
    print(f'error: {_unknown(first)}', file=sys.stderr)
    sys.exit(2)


def _help() -> str:
  lines = ['usage: drvf <command> [--flag=value ...]', '']
  lines += [f'  {name:13}{_first_line(name)}'
            for name in project_files.commands()]
  return '\n'.join([*lines, '', '`drvf <command> --help` lists its flags, '
                    '`drvf --version` says which drvf_tf this is.'])


def _first_line(command: str) -> str:
  """Of the script's docstring, without importing what the script imports."""
  text = project_files.launcher(command).read_text(encoding='utf-8')
  return (ast.get_docstring(ast.parse(text)) or '').partition('\n')[0]


def _unknown(word: str) -> str:
  known = project_files.commands()
  close = difflib.get_close_matches(word, known, n=1)
  hint = f' (did you mean {close[0]}?)' if close else ''
  return f'drvf has no command {word!r}{hint}: there are {", ".join(known)}.'


if __name__ == '__main__':
  main()
