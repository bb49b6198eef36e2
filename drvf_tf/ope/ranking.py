"""Policies in the order of each criterion, and how good the criteria are."""
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

# What can be ranked by; where less is better, what is ranked is its negative.
CRITERIA = {
    'fqe': 'FQE',
    'fqe_low': 'FQE, low end',
    'lcb': 'own LCB',
    'critic': 'own mean Q',
    'wdr': 'WDR',
    'wis': 'WIS',
    'model': 'model',
    'action_error': '−distance to data',
    'td_error': '−TD error',
}
_CELL = 11  # characters at the least


class Candidate(NamedTuple):
  """A policy to choose.

  Attributes:
    run: Its run folder.
    method: What made it.
    seed: Of the run.
    step: Of the checkpoint.
    criteria: By the names of `CRITERIA`, those that the method has; more is
      better.
    estimates: As `estimates.to_json` gives them.
    score: Of a simulator, where one was asked.
  """
  run: str
  method: str
  seed: int
  step: int
  criteria: dict[str, float]
  estimates: list[dict[str, Any]]
  score: Optional[float] = None

  @property
  def label(self) -> str:
    """What tables call it."""
    return f'{self.method}, seed {self.seed}, step {self.step:,}'

  def warned(self, criterion: str) -> bool:
    """Whether something speaks against the estimate of a criterion."""
    name = 'fqe' if criterion == 'fqe_low' else criterion
    return any(one['warnings'] for one in self.estimates
               if one['name'] == name)


class Judgement(NamedTuple):
  """How good a criterion's choice was, by the simulator.

  Attributes:
    criterion: A key of `CRITERIA`.
    policies: How many it ranks.
    correlation: Spearman's, of the criterion and the score, over those.
    regret: The best score of all policies, also of those that the criterion
      does not rank, less that of its first choice.
    chosen: The score of its first choice.
  """
  criterion: str
  policies: int
  correlation: float
  regret: float
  chosen: float


def ranked(chosen_from: Sequence[Candidate],
           criterion: str) -> list[Candidate]:
  """The candidates that have a criterion, the best first."""
  return sorted((one for one in chosen_from if criterion in one.criteria),
                key=lambda one: -one.criteria[criterion])


def judge(chosen_from: Sequence[Candidate]) -> list[Judgement]:
  """Judges every criterion by the simulator's scores, where there are some."""
  scored = [one for one in chosen_from if one.score is not None]
  found = []
  for name in CRITERIA:
    order = ranked(scored, name)
    if len(order) < 2:
      continue
    values = np.array([one.criteria[name] for one in order])
    scores = np.array([one.score for one in order], np.float64)
    best = max(one.score for one in scored if one.score is not None)
    found.append(Judgement(
        name, len(order), rank_correlation(values, scores),
        float(best - scores[0]), float(scores[0])))
  return found


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
  """Spearman's ρ = corr(rank(x), rank(y)), ties at their mean rank."""
  ranks = [_ranks(values) for values in (one, other)]
  if min(rank.std() for rank in ranks) == 0:
    return 0.0
  return float(np.corrcoef(np.stack(ranks))[0, 1])


def table(chosen_from: Sequence[Candidate]) -> str:
  """The candidates, the best by FQE's low end first.

  A method that does not have a criterion has a dash in its column.
  """
  names = [name for name in CRITERIA
           if any(name in one.criteria for one in chosen_from)]
  widths = [max(_CELL, len(CRITERIA[name]) + 3) for name in names]
  labels = _labels(chosen_from)
  first = max(map(len, [*labels.values(), 'policy']))
  scored = any(one.score is not None for one in chosen_from)
  lines = [f'{"policy":{first}}' + ''.join(
      f'{CRITERIA[name]:>{width - 1}} ' for name, width in zip(names, widths))
           + '    score' * scored]
  for one in ranked(chosen_from, 'fqe_low'):
    cells = ''.join(f'{_cell(one, name):>{width}}'
                    for name, width in zip(names, widths))
    score = '' if one.score is None else f'{one.score:9.1f}'
    lines.append(f'{labels[one.run, one.step]:{first}}{cells}{score}'.rstrip())
  notes = []
  if any(name not in one.criteria for one in chosen_from for name in names):
    notes.append('-  the method does not have it, and is not ranked by it')
  if any(one.warned(name) for one in chosen_from for name in names):
    notes.append('*  with a warning: selection.json has it in words')
  return '\n'.join([*lines, *notes])


def _cell(one: Candidate, name: str) -> str:
  """A value and its mark, which takes a place where there is none too."""
  if name not in one.criteria:
    return '- '
  return f'{one.criteria[name]:.4g}' + ('*' if one.warned(name) else ' ')


def _labels(chosen_from: Sequence[Candidate]) -> dict[tuple[str, int], str]:
  """By run and step; where two would be called the same, by their folders."""
  labels = [one.label for one in chosen_from]
  same = len(set(labels)) < len(labels)
  return {(one.run, one.step): f'{one.run}, step {one.step:,}' if same
          else one.label for one in chosen_from}


def verdicts(chosen_from: Sequence[Candidate]) -> str:
  """Each criterion's choice, and what a simulator says of it."""
  judged = {one.criterion: one for one in judge(chosen_from)}
  lines = []
  for name, text in CRITERIA.items():
    order = ranked(chosen_from, name)
    if not order:
      continue
    best = order[0]
    line = f'{text:18} takes {best.run}, step {best.step:,}'
    if len(order) < len(chosen_from):
      line += f', of {len(order)} of the {len(chosen_from)} policies'
    if name in judged and best.score is not None:
      line += (f' (score {judged[name].chosen:.1f}; regret@1 '
               f'{judged[name].regret:.1f}, rank correlation '
               f'{judged[name].correlation:+.2f} over '
               f'{judged[name].policies} policies)')
    lines.append(line)
  return '\n'.join(lines)


def _ranks(values: np.ndarray) -> np.ndarray:
  _, inverse, counts = np.unique(
      values, return_inverse=True, return_counts=True)
  return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
