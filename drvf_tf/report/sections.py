"""Sections of a report on the runs themselves, and the paper's numbers."""
import math
from collections.abc import Sequence

from drvf_tf.report import (
  commands,
  comparison,
  document,
  gathering,
  published,
  score_figures,
  variants,
)

_APART = ("The last column is the paper's, which had other data and another "
          f'budget ({published.CIRCUMSTANCES}); ours: ')


def results(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """The table of task × method, and the commands that give its rows."""
  around = comparison.circumstances(rows)
  cells = [[row.task, row.method, str(row.num_seeds),
            comparison.plus_minus(row.last), comparison.plus_minus(row.final),
            str(row.episodes), row.origin, row.budget,
            '–' if math.isnan(row.minutes) else f'{row.minutes:.1f}']
           for row in rows]
  again = [f'# {row.task}, {row.method}; seeds '
           f'{", ".join(map(str, row.seeds))}\n{commands.fold(row.command)}\n'
           for row in rows]
  return [
      document.Heading('Results'),
      document.Table(
          'results',
          'Normalised scores, mean ± sample standard deviation over seeds, '
          'computed from the raw returns: of the mean of the last '
          f'{comparison.LAST_EVALUATIONS} evaluations (all, if fewer) and of '
          f'the final episodes; never a maximum. {around}',
          ['task', 'method', 'seeds', 'last 10 evaluations', 'final episodes',
           'episodes a seed', 'data', 'budget', 'minutes'], cells),
      document.Text('Each row again, with its first seed; --seed gives the '
                    'others. The data are those of the table.'),
      document.Code(tuple(again)),
      _beside_the_paper(rows)]


def runs(rows: Sequence[comparison.Row],
         refused: Sequence[gathering.Refusal]) -> list[document.Block]:
  """Every run, and every folder that was left out, with the reason."""
  cells = [[row.task, row.method, str(run.seed), f'{last:.2f}', f'{final:.2f}',
            f'{run.num_steps:,}', run.dataset, run.commit[:10], str(run.path)]
           for row in rows
           for run, last, final in zip(row.runs, row.last, row.final)]
  blocks: list[document.Block] = [
      document.Heading('Runs'),
      document.Table(
          'runs', f'Scores of each seed. {comparison.circumstances(rows)}',
          ['task', 'method', 'seed', 'last 10', 'final', 'steps', 'data',
           'commit', 'folder'], cells)]
  if refused:
    blocks.append(document.Table(
        'left_out', 'Folders that are not in this report, and why.',
        ['folder', 'reason'], [[str(path), reason] for path, reason in refused]
    ))
  return blocks


def curves(rows: Sequence[comparison.Row]) -> list[document.Block]:
  """Learning curves of each task; variants have theirs elsewhere."""
  aside = [row for family in variants.families(rows)
           for row in family.rows[1:]]
  blocks: list[document.Block] = [document.Heading('Learning curves')]
  for task in dict.fromkeys(row.task for row in rows):
    here = [row for row in rows if row.task == task and row not in aside]
    blocks.append(curves_of(f'curves_{task}', here))
  return blocks


def curves_of(name: str, rows: Sequence[comparison.Row]) -> document.Figure:
  """The learning curves of rows of one task."""
  return document.Figure(
      name,
      'Score of the greedy policy during training: mean over seeds, band ± '
      'one sample standard deviation; stars, set apart on the right, are the '
      f'final episodes. {comparison.circumstances(rows)} '
      + comparison.common_budget(rows),
      score_figures.learning_curves(rows))


def the_paper() -> list[document.Block]:
  """All published numbers, apart from ours."""
  blocks: list[document.Block] = [
      document.Heading("The paper's published numbers"),
      document.Text('Copied as they are printed, not measured here '
                    f'({published.CIRCUMSTANCES}, unless a table says other).')
  ]
  for name in published.names():
    source = published.table(name)
    header, rows = published.wide(source)
    blocks.append(document.Table(f'published_{name}', source.source, header,
                                 rows, published=len(header)))
  return blocks


def _beside_the_paper(rows: Sequence[comparison.Row]) -> document.Table:
  cells = [[row.task, row.method, comparison.plus_minus(row.final),
            f'{row.steps:,}', row.origin,
            published.score(row.task, row.runs[0].method) or '–']
           for row in rows]
  return document.Table(
      'beside_the_paper', _APART + comparison.circumstances(rows),
      ['task', 'method', 'ours, final episodes', 'our steps', 'our data',
       'the paper, same method'], cells, published=1)
