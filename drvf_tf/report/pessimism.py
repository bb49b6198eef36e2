"""How pessimistic the minimum of N samples is: Eq. (13) in numbers."""
import math
from collections.abc import Sequence
from typing import Callable, Optional

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.report import comparison
from drvf_tf.runs import settings

MEMBERS = (1, 2, 3, 4, 5, 10, 20, 50)
SAMPLES = (1, 2, 5, 10, 20)

# How many samples a target is the minimum of, for M members with n draws.
_TARGETS: dict[str, Callable[[int, int], int]] = {
    '@minimum': lambda members, samples: members * samples,
    '@independent_minimum': lambda members, samples: samples,
}


def coefficient(num_samples: int) -> float:
  """α of Eq. (13): the minimum of N samples equals mean − α·std."""
  from drvf_tf.losses import backups  # TensorFlow: for this section alone
  return backups.lcb_coefficient(num_samples)


def exact(num_samples: int) -> float:
  """What Eq. (13) approximates: −E[min of N standard normal samples]."""
  x = np.linspace(-9.0, 9.0, 20_001)
  density = np.exp(-x**2 / 2) / math.sqrt(2 * math.pi)
  below = 0.5 * (1 + np.array([math.erf(v / math.sqrt(2)) for v in x]))
  return float(np.sum(x * num_samples * density * below**(num_samples - 1))
               * (x[1] - x[0]))


def grid() -> list[list[str]]:
  """α for M (down) and n (across), as text."""
  return [[f'M = {members}', *(f'{coefficient(members * samples):.2f}'
                               for samples in SAMPLES)]
          for members in MEMBERS]


def of_row(row: comparison.Row) -> Optional[tuple[str, int]]:
  """How a row's target is pessimistic: its backup, and N of Eq. (13).

  Args:
    row: Of the table.

  Returns:
    None where the backup is not the minimum of samples.
  """
  bindings = row.runs[0].bindings
  owner = bindings.get('build_agent.agent_class', '').lstrip('@')
  backup = bindings.get(
      f'{owner}.backup', bindings.get('EnsembleSacAgent.backup', '@minimum'))
  members = settings.number(bindings, 'EnsembleCriticNetwork.num_members')
  samples = settings.number(bindings, f'{owner}.num_samples') or (
      settings.number(bindings, 'EnsembleSacAgent.num_samples') or 1)
  if backup not in _TARGETS or members is None:
    return None
  return backup.lstrip('@'), _TARGETS[backup](members, samples)


def draw(rows: Sequence[comparison.Row]) -> figure_lib.Figure:
  """α over N, and where the reported rows are on it."""
  picture = figures.new(8.5, 4.2)
  axis = picture.subplots()
  counts = np.unique(np.round(np.geomspace(1, 1000, 60)).astype(int))
  axis.plot(counts, [coefficient(int(n)) for n in counts],
            color=figures.COLOURS[0], label='α of Eq. (13)')
  shown = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
  axis.plot(shown, [exact(n) for n in shown], 'x', color='black',
            label='exact, Gaussian samples')
  known: dict[int, list[str]] = {}
  for row in rows:
    found = of_row(row)
    if found is not None and row.method not in known.get(found[1], []):
      known.setdefault(found[1], []).append(row.method)
  for index, (count, methods) in enumerate(sorted(known.items())):
    look = figures.style(index + 1)
    look['linestyle'] = 'none'
    axis.plot([count], [coefficient(count)], markersize=9, zorder=4, **look,
              label=figures.wrap(f'N = {count}: {"; ".join(methods)}'))
  axis.set(xscale='log', xlabel='N, samples under the minimum (M·n)',
           ylabel='α, standard deviations below the mean')
  axis.xaxis.set_major_formatter(lambda value, _: f'{value:g}')
  axis.grid(alpha=0.3)
  figures.legend_beside(axis)
  return picture
