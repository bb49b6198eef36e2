"""The paper's published numbers, as they are printed there."""
import csv
import dataclasses
import pathlib
from typing import Optional

_FOLDER = pathlib.Path(__file__).parent / 'published_numbers'
CIRCUMSTANCES = "the paper: D4RL's own v2 data, 3,000,000 steps, 5 seeds"
_SCORES = ('gym_mujoco', 'antmaze')


@dataclasses.dataclass(frozen=True)
class PublishedTable:
  """A table of the paper, one cell to a row.

  Attributes:
    name: Of its file.
    source: Where it is in the paper.
    cells: By column name, as text.
  """
  name: str
  source: str
  cells: tuple[dict[str, str], ...]


def names() -> list[str]:
  """Of all tables, the main ones first."""
  stems = sorted(path.stem for path in _FOLDER.glob('*.csv'))
  return [*_SCORES, *(stem for stem in stems if stem not in _SCORES)]


def table(name: str) -> PublishedTable:
  """Reads a table; the comment at its head is its source."""
  lines = (_FOLDER / f'{name}.csv').read_text(encoding='utf-8').splitlines()
  comments = [line.lstrip('# ') for line in lines if line.startswith('#')]
  cells = csv.DictReader(line for line in lines if not line.startswith('#'))
  return PublishedTable(name, ' '.join(comments), tuple(cells))


def wide(source: PublishedTable) -> tuple[list[str], list[list[str]]]:
  """The table as it is printed: environments down, methods across.

  Args:
    source: A table whose cells have a method; others stay as they are.

  Returns:
    Its header, and its rows.
  """
  if 'method' not in source.cells[0]:
    return (list(source.cells[0]),
            [list(cell.values()) for cell in source.cells])
  methods = list(dict.fromkeys(cell['method'] for cell in source.cells))
  rows: dict[tuple[str, str], dict[str, str]] = {}
  for cell in source.cells:
    key = (cell['environment'], cell.get('quantity', ''))
    rows.setdefault(key, {})[cell['method']] = _text(cell)
  with_quantity = any(quantity for _, quantity in rows)
  header = ['environment', *(['quantity'] if with_quantity else []), *methods]
  return header, [
      [environment, *([quantity] if with_quantity else []),
       *(row.get(method, '–') for method in methods)]
      for (environment, quantity), row in rows.items()]


def score(task: str, method: str) -> Optional[str]:
  """The printed score of a method on a task, or None."""
  return scores(task).get(method)


def scores(task: str) -> dict[str, str]:
  """The printed scores of all methods on a task of Tables 1 and 2."""
  return {cell['method']: _text(cell) for name in _SCORES
          for cell in table(name).cells if cell['task'] == task}


def _text(cell: dict[str, str]) -> str:
  text = cell.get('score') or cell['value']
  if cell.get('std'):
    text += f' ± {cell["std"]}'
  extra = f'M={cell["members"]}' if cell.get('members') else (
      cell.get('ensemble') or '')
  return f'{text} ({extra})' if extra else text
