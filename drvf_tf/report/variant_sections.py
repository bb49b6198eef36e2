"""Sections of a report on variants of methods: App. E and Fig. 4."""
import collections
from collections import Counter
from collections.abc import Sequence
from typing import Optional

from drvf_tf.report import (
  ablation_figures,
  ablations,
  comparison,
  document,
  sections,
  smallest_members,
  variants,
)


def all_of(rows: Sequence[comparison.Row],
           target: Optional[float]) -> list[document.Block]:
  """Variants, ablations and the smallest M, where there are such runs.

  Args:
    rows: Of the table.
    target: Score that the smallest M has to reach; None for 95 % of the best
      of each method.

  Returns:
    Nothing where no method has variants.
  """
  found = ablations.find(rows)
  blocks = [*_families(rows, found), *_ablations(found), *_smallest(
      [one for one in found if one.kind is ablations.MEMBERS], target)]
  return [document.Heading('Variants'), *blocks] if blocks else []


def _families(rows: Sequence[comparison.Row],
              found: Sequence[ablations.Ablation]) -> list[document.Block]:
  """All variants of a method; curves of those that no ablation draws."""
  drawn = [row for one in found for row in one.rows]
  blocks: list[document.Block] = []
  for number, family in enumerate(variants.families(rows)):
    name = f'variants_{number}_{family.task}'
    blocks.append(document.Figure(
        name, 'Mean final score, sample standard deviation as whisker, seeds '
        f'as dots. {_around(family.rows)}', variants.draw(family)))
    others = [row for row in family.rows[1:] if row not in drawn]
    if others:
      blocks.append(sections.curves_of(
          f'{name}_curves', [family.rows[0], *others]))
  return blocks


def _ablations(found: Sequence[ablations.Ablation]) -> list[document.Block]:
  blocks: list[document.Block] = []
  names: Counter[str] = collections.Counter()
  for one in found:
    name = f'ablation_{one.kind.key}_{one.task}'
    names[name] += 1
    blocks.append(document.Figure(
        f'{name}_{names[name]}' if names[name] > 1 else name,
        f'{_what(one)}: mean final score with the sample standard deviation '
        'as whisker, seeds as black dots; curves are means over seeds, band ± '
        f'one standard deviation. {_around(one.rows)}',
        ablation_figures.draw(one)))
  return blocks


def _what(one: ablations.Ablation) -> str:
  labels = [point.label for point in one.points]
  return (f'Ablation of {one.method} (App. E), {one.kind.title} '
          f'({"; ".join(labels)}), all other settings '
          + ('of the dropout ensembles the same' if labels[0] == 'DRVF'
             else 'the same'))


def _smallest(members: Sequence[ablations.Ablation],
              target: Optional[float]) -> list[document.Block]:
  if not members:
    return []
  found = [smallest_members.of(one, target) for one in members]
  share = f'{smallest_members.SHARE:.0%}'.replace('%', ' %')
  goal = (f'{share} of the best mean of the same method and task; '
          '--target_score sets another' if target is None
          else f'{target:g}, as asked for with --target_score')
  caption = ('The smallest M whose mean final score reaches a score, as in '
             f'Fig. 4; the score is {goal}. '
             + _around([row for one in members for row in one.rows]))
  return [
      document.Figure('smallest_members', caption,
                      smallest_members.draw(found)),
      document.Table(
          'smallest_members', caption,
          ['task', 'method', 'score to reach', 'M tried', 'smallest M'],
          smallest_members.cells(found))]


def _around(rows: Sequence[comparison.Row]) -> str:
  return f'{comparison.circumstances(rows)} {comparison.common_budget(rows)}'
