"""The section of a report on what runs cost; the paper's cost is elsewhere."""
import math
from collections.abc import Sequence
from typing import Callable

import numpy as np

from drvf_tf.report import comparison, document
from drvf_tf.runs import cost_record


def costs(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """Speed, CPU time and size of every row, from run folders alone."""
  cells = [[row.task, row.method, _parameters(row),
            _mean(row, lambda cost: cost.steps_per_second, '.1f'),
            _mean(row, lambda cost: cost.cpu_ms_per_step, '.1f'),
            f'{row.steps:,}', str(row.num_seeds), _machines([row])]
           for row in rows]
  return [
      document.Heading('Cost'),
      document.Table(
          'cost',
          'What these runs cost, mean over seeds; no benchmark, for runs may '
          'have shared their machine. Steps/s are by the clock: of the '
          'training loop, evaluations on the way included. CPU time is of the '
          'training process, all threads. Parameters are of all networks, '
          'targets included. –: not in the run folder. Machine: '
          f'{_machines(rows)}. {comparison.circumstances(rows)} '
          "The paper's own cost table, of another machine and other sizes, is "
          'with its published numbers below.',
          ['task', 'method', 'parameters', 'steps/s', 'CPU ms a step', 'steps',
           'seeds', 'machine'], cells)]


def _mean(row: comparison.Row, part: Callable[[cost_record.Cost], float],
          form: str) -> str:
  known = [value for value in (part(run.cost) for run in row.runs)
           if not math.isnan(value)]
  return format(float(np.mean(known)), form) if known else '–'


def _parameters(row: comparison.Row) -> str:
  return ' or '.join(f'{count:,}' for count in sorted(
      {run.cost.parameters for run in row.runs}))


def _machines(rows: Sequence[comparison.Row]) -> str:
  return '; '.join(dict.fromkeys(
      run.cost.machine for row in rows for run in row.runs))
