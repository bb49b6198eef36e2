"""A report on run folders: one folder with a page, tables and figures."""
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Optional

from drvf_tf import errors, figures
from drvf_tf.report import (
  comparing_sections,
  comparison,
  cost_section,
  document,
  gathering,
  keeping,
  overview,
  sections,
  variant_sections,
)

_PAGE = 'index.html'
_TEXT = 'report.md'
_FILES = {_PAGE, _TEXT, 'tables', 'figures'}


def make(paths: Sequence[str], out: pathlib.Path,
         target_score: Optional[float] = None,
         records: Optional[pathlib.Path] = None,
         origin: Optional[str] = None) -> list[gathering.Refusal]:
  """Reads runs and writes the report.

  Args:
    paths: Run folders, or folders to search for them.
    out: Folder of the report; one that holds an older report is replaced.
    target_score: See `variant_sections.all_of`.
    records: Where to keep the runs' records; what it holds is reported too.
    origin: One of `finished.ORIGINS`: what the data are where their file does
      not say.

  Returns:
    What was left out, and why.

  Raises:
    UserError: There is no finished run, or `out` cannot be written.
  """
  check_output(out)
  known = [] if records is None or not records.exists() else [str(records)]
  runs, refused = gathering.gather([*known, *paths])
  if not runs:
    raise errors.UserError(
        'There is no finished run to report: name run folders that '
        'launch/train.py has finished'
        + ''.join(f'; {path}: {reason}' for path, reason in refused) + '.')
  if origin is not None:
    runs = [run.with_origin(origin) for run in runs]
  if records is not None:
    keeping.keep(runs, records)
  write(blocks(comparison.rows(runs), refused, target_score), out)
  return refused


def blocks(rows: Sequence[comparison.Row],
           refused: Sequence[gathering.Refusal],
           target_score: Optional[float] = None) -> list[document.Block]:
  """All sections of the report."""
  finished = sum(row.num_seeds for row in rows)
  return [
      document.Text(
          f'{finished} finished run{"s" * (finished != 1)}, '
          f'{len(refused)} folder{"s" * (len(refused) != 1)} left out. '
          f'{comparison.circumstances(rows)}'),
      *overview.overview(rows),
      *sections.results(rows),
      *sections.curves(rows),
      *comparing_sections.statistics(rows),
      *variant_sections.all_of(rows, target_score),
      *comparing_sections.pessimism_of(rows),
      *cost_section.costs(rows),
      *sections.runs(rows, refused),
      *sections.the_paper()]


def check_output(out: pathlib.Path) -> None:
  """Refuses a folder that holds anything but an older report."""
  if out.exists() and (not out.is_dir() or {
      path.name for path in out.iterdir()} - _FILES):
    raise errors.UserError(
        f'{out} holds something else than a report: name another folder with '
        '--out.')


def write(content: Sequence[document.Block], out: pathlib.Path) -> None:
  """Writes the report whole or not at all."""
  title = 'Report on runs of drvf_tf'
  try:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=out.parent, prefix=f'.{out.name}.') as scratch:
      new = pathlib.Path(scratch, 'new')
      images = _write_parts(content, new)
      (new / _TEXT).write_text(document.to_markdown(title, content),
                               encoding='utf-8')
      (new / _PAGE).write_text(document.to_html(title, content, images),
                               encoding='utf-8')
      if out.exists():
        out.rename(pathlib.Path(scratch, 'old'))
      new.rename(out)
  except OSError as error:
    raise errors.UserError(
        f'{out} cannot be written ({error.strerror}): name another folder '
        'with --out.') from error


def _write_parts(content: Sequence[document.Block],
                 folder: pathlib.Path) -> dict[str, bytes]:
  """Writes tables and figures, and gives the PNG files."""
  images: dict[str, bytes] = {}
  for name in ('tables', 'figures'):
    (folder / name).mkdir(parents=True)
  for block in content:
    if isinstance(block, document.Table):
      (folder / 'tables' / f'{block.name}.csv').write_text(
          block.csv(), encoding='utf-8')
    elif isinstance(block, document.Figure):
      images[block.name], svg = figures.encode(block.picture)
      (folder / 'figures' / f'{block.name}.png').write_bytes(
          images[block.name])
      (folder / 'figures' / f'{block.name}.svg').write_bytes(svg)
  return images
