"""How figures look."""
import io
import textwrap
from typing import Any

import matplotlib
from matplotlib import figure as figure_lib

# Okabe and Ito's palette, told apart by the colour-blind; no yellow on white.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9',
           '#000000')
_LINES = ('-', '--', '-.', ':')
_MARKERS = 'osD^vPX*'
SCORE = "normalised score (0: random, 100: D4RL's expert)"
_LEGEND_WIDTH = 34


def new(width: float = 8.0, height: float = 4.5) -> figure_lib.Figure:
  """An empty figure, in inches; its layout keeps labels inside."""
  return figure_lib.Figure(figsize=(width, height), layout='constrained')


def style(index: int) -> dict[str, Any]:
  """Colour, line and marker of the method of a number; no two are alike."""
  return {'color': COLOURS[index % len(COLOURS)],
          'linestyle': _LINES[index // len(COLOURS) % len(_LINES)],
          'marker': _MARKERS[index % len(_MARKERS)]}


def wrap(text: str, width: int = _LEGEND_WIDTH) -> str:
  """Breaks a label into lines."""
  return '\n'.join(textwrap.wrap(text, width, break_on_hyphens=False))


def legend_beside(axis: Any) -> None:
  """A legend right of the axis, where it hides nothing."""
  axis.legend(loc='upper left', bbox_to_anchor=(1.01, 1.0), frameon=False,
              borderaxespad=0.0, fontsize=9)


def encode(picture: figure_lib.Figure) -> tuple[bytes, bytes]:
  """PNG and SVG of a figure; the same figure gives the same bytes."""
  png, svg = io.BytesIO(), io.BytesIO()
  picture.savefig(png, format='png', dpi=160, bbox_inches='tight',
                  metadata={'Software': None})
  with matplotlib.rc_context({'svg.hashsalt': 'drvf_tf'}):
    picture.savefig(svg, format='svg', bbox_inches='tight',
                    metadata={'Date': None})
  return png.getvalue(), svg.getvalue()
