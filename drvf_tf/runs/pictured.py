"""Numbers and their picture, written where a user asked for them."""
import json
import pathlib
from typing import Any

from matplotlib import figure as figure_lib

from drvf_tf import errors, figures
from drvf_tf.runs import run_folder


def write(name: str, numbers: Any, picture: figure_lib.Figure,
          folder: pathlib.Path) -> list[pathlib.Path]:
  """Writes the numbers as JSON and the picture as PNG and SVG.

  Args:
    name: Of the files, without what says their kind.
    numbers: In JSON's terms.
    picture: Of them.
    folder: Where to; it need not exist.

  Returns:
    The files.

  Raises:
    UserError: The folder cannot be written to.
  """
  paths = [folder / f'{name}.{kind}' for kind in ('json', 'png', 'svg')]
  png, svg = figures.encode(picture)
  try:
    folder.mkdir(parents=True, exist_ok=True)
    run_folder.write_atomically(
        paths[0], json.dumps(numbers, indent=2, ensure_ascii=False) + '\n')
    paths[1].write_bytes(png)
    paths[2].write_bytes(svg)
  except OSError as error:
    raise errors.UserError(
        f'{folder} cannot be written to ({error.strerror}): name another '
        'folder with --out.') from error
  return paths
