"""A report as a list of blocks, and its forms: Markdown and one HTML page."""
import base64
import csv
import dataclasses
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any, Union


@dataclasses.dataclass(frozen=True)
class Heading:
  """Of a section."""
  text: str
  level: int = 2


@dataclasses.dataclass(frozen=True)
class Text:
  """A paragraph."""
  text: str


@dataclasses.dataclass(frozen=True)
class Bullets:
  """A list, each of a sentence or two."""
  texts: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Code:
  """Commands, each on a line of its own."""
  lines: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Table:
  """A table, which is also written as `<name>.csv`.

  Attributes:
    name: Of its file.
    caption: What it shows, with budget and data.
    header: Names of the columns.
    rows: Cells as text.
    published: How many of the last columns are the paper's and not ours.
  """
  name: str
  caption: str
  header: Sequence[str]
  rows: Sequence[Sequence[str]]
  published: int = 0

  def csv(self) -> str:
    """The table as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator='\n')
    writer.writerow(self.header)
    writer.writerows(self.rows)
    return file.getvalue()


@dataclasses.dataclass(frozen=True)
class Figure:
  """A picture, which is written as `<name>.png` and `<name>.svg`.

  Attributes:
    name: Of its files.
    caption: What it shows, with budget and data.
    picture: A matplotlib figure.
    half: Whether two of it stand side by side where a page has room.
  """
  name: str
  caption: str
  picture: Any
  half: bool = False


_LONG = 40  # characters of a cell that is given room

Block = Union[Heading, Text, Bullets, Code, Table, Figure]

_STYLE = """
:root { color-scheme: light; }
body { background: #fff; color: #1a1a1a; margin: 0 auto; max-width: 72rem;
  padding: 1.5rem; font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans",
  sans-serif; }
h1, h2, h3 { line-height: 1.2; margin: 2.2rem 0 .6rem; }
h1 { margin-top: 0; }
h2 { border-bottom: 2px solid #ddd; padding-bottom: .2rem; }
figure { margin: 1.5rem 0; }
figure img { display: block; max-width: 100%; height: auto; }
figure.half { display: inline-block; margin: 1.5rem 1% 0 0;
  vertical-align: top; width: min(100%, 34rem); }
figcaption { color: #444; font-size: .875rem; padding-top: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem;
  font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .5rem .3rem .25rem;
  text-align: left; vertical-align: top; }
td:first-child { white-space: nowrap; }
td.long { min-width: 13rem; overflow-wrap: anywhere; }
li { margin-bottom: .4rem; }
th { background: #f3f5f7; }
td.published { background: #fbf6ea; } th.published { background: #f1e7cd; }
pre { background: #f3f5f7; padding: .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: .8rem; }
@media (max-width: 40rem) { body { padding: 1rem; }
  td:first-child { white-space: normal; } ul { padding-left: 1.2rem; } }
@media print { body { max-width: none; } }
"""


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
  """The report as Markdown; pictures and tables are files beside it."""
  parts = [f'# {title}']
  for block in blocks:
    if isinstance(block, Heading):
      parts.append(f'{"#" * block.level} {block.text}')
    elif isinstance(block, Text):
      parts.append(block.text)
    elif isinstance(block, Bullets):
      parts.append('\n'.join(f'* {text}' for text in block.texts))
    elif isinstance(block, Code):
      parts.append('\n'.join(['```', *block.lines, '```']))
    elif isinstance(block, Table):
      lines = [block.header, ['---'] * len(block.header), *block.rows]
      parts.append('\n'.join(
          '| ' + ' | '.join(cell.replace('|', '\\|') for cell in line) + ' |'
          for line in lines))
      parts.append(f'*{block.caption}* ([CSV](tables/{block.name}.csv))')
    else:
      parts.append(f'![{block.name}](figures/{block.name}.png)')
      parts.append(f'*{block.caption}* ([SVG](figures/{block.name}.svg))')
  return '\n\n'.join(parts) + '\n'


def to_html(title: str, blocks: Sequence[Block],
            images: Mapping[str, bytes]) -> str:
  """The report as one page that loads nothing.

  Args:
    title: Of the page.
    blocks: Of the report.
    images: PNG files by the name of the figure; they go into the page.

  Returns:
    HTML.
  """
  body: list[str] = [f'<h1>{_escape(title)}</h1>']
  for block in blocks:
    if isinstance(block, Heading):
      body.append(f'<h{block.level}>{_escape(block.text)}</h{block.level}>')
    elif isinstance(block, Text):
      body.append(f'<p>{_escape(block.text)}</p>')
    elif isinstance(block, Bullets):
      items = ''.join(f'<li>{_escape(text)}</li>' for text in block.texts)
      body.append(f'<ul>{items}</ul>')
    elif isinstance(block, Code):
      body.append(f'<pre>{_escape(chr(10).join(block.lines))}</pre>')
    elif isinstance(block, Table):
      body.append(_html_table(block))
    else:
      image = base64.b64encode(images[block.name]).decode('ascii')
      body.append(
          f'<figure{" class=half" * block.half}>'
          f'<img alt="{_escape(block.name)}" '
          f'src="data:image/png;base64,{image}">'
          f'<figcaption>{_escape(block.caption)}</figcaption></figure>')
  return '\n'.join([
      '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      f'<title>{_escape(title)}</title><style>{_STYLE}</style></head><body>',
      *body, '</body></html>', ''])


def _html_table(block: Table) -> str:
  lines = ['<figure><div class="wide"><table>',
           _html_row('th', block.header, block.published)]
  lines += [_html_row('td', row, block.published) for row in block.rows]
  return '\n'.join([
      *lines, '</table></div>',
      f'<figcaption>{_escape(block.caption)}</figcaption></figure>'])


def _html_row(tag: str, cells: Sequence[str], published: int) -> str:
  parts = []
  for index, cell in enumerate(cells):
    kinds = ['published'] * (index >= len(cells) - published)
    kinds += ['long'] * (len(cell) > _LONG)
    kind = f' class="{" ".join(kinds)}"' if kinds else ''
    # A mean stays with its deviation: no line break around ±.
    text = _escape(cell).replace(' ± ', '&nbsp;±&nbsp;')
    parts.append(f'<{tag}{kind}>{text}</{tag}>')
  return '<tr>' + ''.join(parts) + '</tr>'


def _escape(text: str) -> str:
  return html.escape(text, quote=True)
