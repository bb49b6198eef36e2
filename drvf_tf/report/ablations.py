"""App. E: rows that differ in one part of a method and in nothing else.

Which rows these are is read from their settings, not from their names.
"""
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from drvf_tf.report import comparison
from drvf_tf.runs import settings

Bindings = Mapping[str, str]
Labelled = Optional[tuple[str, float]]
_OFF = ('0', '0.0')


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
  """One variant.

  Attributes:
    label: What sets it apart.
    value: The same as a number; the place in the order where it is none.
    row: Its seeds.
  """
  label: str
  value: float
  row: comparison.Row


@dataclasses.dataclass(frozen=True)
class Kind:
  """What an ablation varies.

  Attributes:
    key: For names of files.
    title: What is compared, in words; of an axis where it is a number.
    is_number: Whether it is.
    varied: Matches the bindings that may differ.
    value: Label and value of a row's bindings; None where they are not
      concerned.
  """
  key: str
  title: str
  is_number: bool
  varied: 're.Pattern[str]'
  value: Callable[[Bindings], Labelled]


@dataclasses.dataclass(frozen=True, eq=False)
class Ablation:
  """Two variants or more on one task.

  Attributes:
    kind: What is varied.
    task: The task's name.
    method: The method that is varied.
    points: The variants, in order.
  """
  kind: Kind
  task: str
  method: str
  points: tuple[Point, ...]

  @property
  def rows(self) -> tuple[comparison.Row, ...]:
    """Of the variants."""
    return tuple(point.row for point in self.points)


def find(rows: Sequence[comparison.Row]) -> list[Ablation]:
  """All ablations that rows hold, kind by kind."""
  return [_beside_drvf(found, rows) if kind is _DROPOUT else found
          for kind in KINDS for found in of_kind(kind, rows)]


def of_kind(kind: Kind, rows: Sequence[comparison.Row]) -> list[Ablation]:
  """Ablations of one kind: two variants or more, all else the same."""
  groups: dict[Any, dict[str, Point]] = {}
  # A variant that was run under two names counts under the shorter.
  for row in sorted(rows, key=lambda row: (row.task, len(row.method))):
    found = kind.value(row.runs[0].bindings)
    if found is not None:
      groups.setdefault(_all_else(kind, row), {}).setdefault(
          found[0], Point(*found, row))
  return [_ablation(kind, list(points.values()))
          for points in groups.values() if len(points) > 1]


def _ablation(kind: Kind, points: list[Point]) -> Ablation:
  own = min((point.row for point in points), key=lambda row: len(row.method))
  symbol = kind.title.partition(',')[0]
  method = re.sub(rf'[, ]*\b{re.escape(symbol)}=\S+$', '', own.method)
  return Ablation(kind, own.task, method, tuple(sorted(
      points, key=lambda point: point.value)))


def _beside_drvf(found: Ablation, rows: Sequence[comparison.Row]) -> Ablation:
  """Dropout ensembles, with DRVF of as many members and the same budget."""
  own = found.points[0].row
  same = ('EnsembleCriticNetwork.num_members', 'train_eval.batch_size')

  def fits(row: comparison.Row) -> bool:
    one, other = row.runs[0], own.runs[0]
    return row.method == 'DRVF' and all(
        one.bindings.get(name) == other.bindings.get(name) for name in same
    ) and (one.task, one.dataset_hash, one.num_steps) == (
        other.task, other.dataset_hash, other.num_steps)

  drvf = [Point('DRVF', -1, row) for row in rows if fits(row)]
  return dataclasses.replace(found, points=(*drvf, *found.points))


def _all_else(kind: Kind, row: comparison.Row) -> tuple[Any, ...]:
  run = row.runs[0]
  return (row.task, run.dataset_hash, frozenset(
      (name, value) for name, value in settings.that_matter(
          run.bindings).items() if not kind.varied.match(name)))


def _number(symbol: str, meaning: str, *names: str) -> Kind:
  """A kind that varies a number, 0 (the part is off) aside."""

  def value(bindings: Bindings) -> Labelled:
    for name in names:
      try:
        number = float(bindings[name].replace('_', ''))
      except (KeyError, ValueError):
        continue
      return (f'{symbol} = {number:g}', number) if number else None
    return None

  return Kind(symbol.replace('η', 'eta'), f'{symbol}, {meaning}', True,
              re.compile('|'.join(re.escape(name) + '$' for name in names)),
              value)


def _loss_parts(bindings: Bindings) -> Labelled:
  if bindings.get('build_agent.agent_class') != '@DRVFAgent':
    return None
  labels = ('TD + KL + repulsion', 'no repulsion', 'no KL', 'TD only')
  place = (bindings.get('DRVFAgent.eta_ood') in _OFF) + 2 * (
      bindings.get('DRVFAgent.kl_scale') == '@kl_zero')
  return labels[place], place


def _ood_source(bindings: Bindings) -> Labelled:
  if bindings.get('build_agent.agent_class') != '@DRVFAgent' or (
      bindings.get('DRVFAgent.eta_ood') in _OFF):
    return None
  names = {'@from_policy': "the policy's actions",
           '@uniform': 'uniform actions'}
  source = bindings.get('DRVFAgent.ood_source', '@from_policy')
  return (names.get(source, source.lstrip('@').replace('_', ' ')),
          list(names).index(source) if source in names else len(names))


def _dropout(bindings: Bindings) -> Labelled:
  if bindings.get('build_agent.critic_class') != '@DropoutCriticNetwork':
    return None
  parts = re.findall(r'@(\w+)', bindings.get(
      'EnsembleSacAgent.regularizers', ''))
  return ' + '.join(['dropout', *(
      {'GradientDiversity': 'diversity'}.get(part, part.lower())
      for part in parts)]), len(parts)


MEMBERS = _number('M', 'members of the ensemble',
                  'EnsembleCriticNetwork.num_members')
_DROPOUT = Kind('dropout', 'dropout ensembles', False, re.compile(
    r'EnsembleSacAgent\.regularizers$|(GradientDiversity|Repulsion)\.'),
                _dropout)
KINDS: tuple[Kind, ...] = (
    MEMBERS,
    _number('n', 'draws per member', 'DRVFAgent.num_samples',
            'EnsembleSacAgent.num_samples'),
    _number('K', 'OOD actions per state', 'DRVFAgent.num_ood_actions',
            'Repulsion.num_actions'),
    _number('S', 'states with OOD actions', 'DRVFAgent.ood_batch_size',
            'Repulsion.batch_size'),
    _number('η_q', 'weight of the TD error and the KL', 'DRVFAgent.eta_q'),
    _number('η_ood', 'weight of the repulsion', 'DRVFAgent.eta_ood'),
    Kind('loss', 'parts of the loss, Eq. (16)', False,
         re.compile(r'DRVFAgent\.(eta_ood|kl_scale)$'), _loss_parts),
    Kind('ood', 'where OOD actions come from', False,
         re.compile(r'DRVFAgent\.ood_source$'), _ood_source),
    _DROPOUT,
)
