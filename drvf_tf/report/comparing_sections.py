"""Sections of a report that compare: aggregates, pessimism."""
from collections.abc import Sequence

from drvf_tf import errors
from drvf_tf.report import (
  aggregate_figures,
  aggregates,
  comparison,
  document,
  pessimism,
  variants,
)


def statistics(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """Aggregates by rliable, where methods have two runs or more.

  Variants are not in it: a section of their own compares them.

  Args:
    rows: Of the table.

  Returns:
    Blocks of the section.
  """
  rows = variants.across_tasks(rows)
  data = aggregates.scores(rows)
  heading = document.Heading('Aggregates over tasks')
  if not data.methods:
    return [heading, document.Text(
        'None: no method has two runs or more on a task, and an interval '
        'needs them.')]
  chosen = [row for row in rows
            if row.method in data.methods and row.task in data.tasks]
  lengths = {method: matrix.shape[0] for method, matrix in data.methods.items()}
  counts = (f'{min(lengths.values())} runs a task'
            if len(set(lengths.values())) == 1 else ', '.join(
                f'{name}: {count} runs a task'
                for name, count in lengths.items()))
  around = (f'{counts}; 95 % intervals by stratified bootstrap over runs '
            '(rliable), which are rough below five runs a task. '
            + comparison.circumstances(chosen))
  try:
    found = aggregates.intervals(data)
  except errors.UserError as error:
    return [heading, document.Text(str(error))]
  blocks: list[document.Block] = [
      heading,
      document.Table(
          'aggregates', f"Final scores, 1 is D4RL's expert. {around}",
          ['method', *aggregates.METRICS],
          [[method, *map(str, values.values())]
           for method, values in found.items()]),
      document.Figure('aggregates', f'The same as a picture. {around}',
                      aggregate_figures.draw_intervals(found)),
      document.Figure(
          'profile', 'Performance profile: the share of runs above a score, '
          f'with 95 % bands. {around}', aggregate_figures.draw_profile(data))]
  improved = aggregates.improvement(data)
  if improved:
    blocks.append(document.Figure(
        'improvement', 'Probability that a run of the first method scores '
        'above one of the second; a line without a bar: the interval is one '
        f'point. {around}',
        aggregate_figures.draw_improvement(improved)))
  if data.left_out:
    blocks.append(document.Text(
        'Not aggregated, for want of two runs on each of these tasks: '
        + '; '.join(data.left_out) + '.'))
  return blocks


def pessimism_of(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """What the minimum of M·n samples is worth."""
  cells = []
  for row in rows:
    found = pessimism.of_row(row)
    if found is not None:
      backup, count = found
      cells.append([row.task, row.method, backup, str(count),
                    f'mean − {pessimism.coefficient(count):.2f}·std'])
  around = comparison.circumstances(rows)
  blocks: list[document.Block] = [
      document.Heading('Pessimism'),
      document.Text('The minimum of N Gaussian samples of Q is, in '
                    'expectation, mean − α·std (Eq. 13): M members with n '
                    'draws each are N = M·n samples, one number that says how '
                    'pessimistic a target is.'),
      document.Table(
          'pessimism', 'α for M members and n draws, from Eq. (13): no data '
          'and no training are behind it.',
          ['', *(f'n = {n}' for n in pessimism.SAMPLES)], pessimism.grid()),
      document.Figure(
          'pessimism', 'α over the number of samples; markers are the targets '
          f'of the runs. {around}', pessimism.draw(rows))]
  if cells:
    blocks.append(document.Table(
        'pessimism_of_runs', f'Your samples equal mean − α·std. {around}',
        ['task', 'method', 'backup', 'N', 'the target equals'], cells))
  return blocks
