"""Ranks checkpoints and runs by what data say, and judges the criteria."""
import csv
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from drvf_tf import errors
from drvf_tf.ope import estimates, run_estimates
from drvf_tf.runs import checkpoint_files, restoring, run_reader

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
_ROWS = 4_000  # of errors
# Threads are chosen once, before the first run is restored.
_THREADS = ('configure_runtime.intra_op_threads=None',
            'configure_runtime.inter_op_threads=None')

Scores = Mapping[tuple[str, int], float]


class Candidate(NamedTuple):
  """A policy to choose.

  Attributes:
    run: Its run folder.
    method: What made it.
    seed: Of the run.
    step: Of the checkpoint.
    criteria: By the names of `CRITERIA`; more is better.
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


class Judgement(NamedTuple):
  """How good a criterion's choice was, by the simulator.

  Attributes:
    criterion: A key of `CRITERIA`.
    policies: How many it ranks.
    correlation: Spearman's, of the criterion and the score.
    regret: The best score less that of the criterion's first choice.
    chosen: The score of its first choice.
  """
  criterion: str
  policies: int
  correlation: float
  regret: float
  chosen: float


def candidates(folders: Sequence[str], gamma: Optional[float],
               cache: pathlib.Path, bindings: Sequence[str] = (),
               scores: Optional[Scores] = None) -> Iterator[Candidate]:
  """Evaluates every checkpoint of every run.

  Args:
    folders: Run folders, on the same data.
    gamma: γ; the first run's by default.
    cache: A file of what was evaluated before, which is not again.
    bindings: gin bindings on top of each run's configuration.
    scores: Of a simulator, by run and step; the runs' records by default.

  Yields:
    The candidates, as they are ready.

  Raises:
    UserError: Runs are on different data, or there is nothing to choose.
  """
  known = _known(cache, gamma, bindings)
  shared = _Shared(gamma)
  for folder in folders:
    reader = run_reader.RunReader(pathlib.Path(folder))
    recorded = recorded_scores(reader) if scores is None else {
        step: score for (run, step), score in scores.items() if run == folder}
    run: Optional[restoring.RestoredRun] = None
    for step in checkpoint_files.steps(reader.checkpoints_folder):
      found = known.get((folder, step))
      if found is None:
        run = (restoring.restore(folder, str(step), [*_THREADS, *bindings])
               if run is None else restoring.move(run, folder, str(step)))
        found = _evaluate(run, folder, shared.evaluation(run))
        found.update(gamma_asked=gamma, bindings=list(bindings))
        _note(cache, found)
      yield Candidate(
          folder, found['method'], found['seed'], step, _criteria(found),
          found['estimates'], recorded.get(step))


class _Shared:
  """One evaluation for all runs: their data must be the same."""

  def __init__(self, gamma: Optional[float]):
    self._gamma = gamma
    self._settings: dict[str, Any] = {}
    self._evaluation: Optional[estimates.OfflineEvaluation] = None

  def evaluation(self, run: restoring.RestoredRun
                 ) -> estimates.OfflineEvaluation:
    """The evaluation, for a run whose configuration gin holds."""
    settings = run_estimates.data_settings()
    if self._evaluation is None:
      self._settings = settings
      self._evaluation = estimates.OfflineEvaluation(
          run_estimates.recorded(run),
          run_estimates.discount(run, self._gamma))
    rows = self._evaluation.rows
    if settings != self._settings and (
        run_estimates.recorded(run).hash() != rows.hash()):
      raise errors.UserError(
          f'The runs are on different data ({rows.provenance} and '
          f'{run.dataset.provenance}), where estimates cannot be compared: '
          'select among runs on one dataset.')
    return self._evaluation


def _evaluate(run: restoring.RestoredRun, folder: str,
              evaluation: estimates.OfflineEvaluation) -> dict[str, Any]:
  found = run_estimates.evaluate(run, folder, evaluation=evaluation)
  rows = run.dataset.held_out or run.dataset
  chosen = np.sort(np.random.default_rng(0).choice(
      rows.size, min(_ROWS, rows.size), replace=False))
  on_data = run_estimates.policy_of(run, folder).critic.on_data(rows, chosen)
  if 'td_error' in on_data:
    on_data['td_error'] /= run.dataset.reward_scale
  return {**found, 'on_data': on_data}


def _criteria(found: Mapping[str, Any]) -> dict[str, float]:
  named = {one['name']: one['value'] for one in found['estimates']}
  named['fqe_low'] = next(
      one['low'] for one in found['estimates'] if one['name'] == 'fqe')
  for name in ('action_error', 'td_error'):
    if name in found['on_data']:
      named[name] = -found['on_data'][name]
  return {name: named[name] for name in CRITERIA if name in named}


def judge(chosen_from: Sequence[Candidate]) -> list[Judgement]:
  """Judges every criterion by the simulator's scores, where there are some."""
  found = []
  for name in CRITERIA:
    ranked = [one for one in chosen_from
              if name in one.criteria and one.score is not None]
    if len(ranked) < 2:
      continue
    values = np.array([one.criteria[name] for one in ranked])
    scores = np.array([one.score for one in ranked], np.float64)
    found.append(Judgement(
        name, len(ranked), rank_correlation(values, scores),
        regret(values, scores), float(scores[np.argmax(values)])))
  return found


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
  """Spearman's ρ = corr(rank(x), rank(y)), ties at their mean rank."""
  ranks = [_ranks(values) for values in (one, other)]
  if min(rank.std() for rank in ranks) == 0:
    return 0.0
  return float(np.corrcoef(np.stack(ranks))[0, 1])


def regret(values: np.ndarray, scores: np.ndarray) -> float:
  """regret@1 = max_i score_i − score of argmax_i value_i."""
  return float(scores.max() - scores[np.argmax(values)])


def recorded_scores(reader: run_reader.RunReader) -> dict[int, float]:
  """Scores of a run's own evaluations by step; the final one is the best."""
  rows = [row for row in reader.evaluations() if 'score' in row]
  return {row['step']: row['score']
          for row in sorted(rows, key=lambda row: row['final'])}


def read_scores(path: pathlib.Path) -> dict[tuple[str, int], float]:
  """Scores of a CSV file with the columns run, step and score."""
  try:
    with open(path, newline='', encoding='utf-8') as file:
      return {(row['run'], int(row['step'])): float(row['score'])
              for row in csv.DictReader(file)}
  except (OSError, KeyError, ValueError, TypeError) as error:
    raise errors.UserError(
        f'{path} is no table of scores ({error}): give a CSV file with the '
        'columns run, step and score.') from error


def table(chosen_from: Sequence[Candidate]) -> str:
  """The candidates, the best by FQE's low end first."""
  names = [name for name in CRITERIA
           if any(name in one.criteria for one in chosen_from)]
  scored = any(one.score is not None for one in chosen_from)
  width = max(len(one.label) for one in chosen_from)
  lines = [f'{"policy":{width}}' + ''.join(
      f'{CRITERIA[name]:>18}' for name in names) + '     score' * scored]
  for one in sorted(chosen_from, key=lambda one: -one.criteria['fqe_low']):
    cells = ''.join(
        f'{one.criteria[name]:18.4g}' if name in one.criteria else f'{"-":>18}'
        for name in names)
    score = '' if one.score is None else f'{one.score:10.1f}'
    lines.append(f'{one.label:{width}}{cells}{score}')
  return '\n'.join(lines)


def verdicts(chosen_from: Sequence[Candidate]) -> str:
  """Each criterion's choice, and what a simulator says of it."""
  judged = {one.criterion: one for one in judge(chosen_from)}
  lines = []
  for name, text in CRITERIA.items():
    ranked = [one for one in chosen_from if name in one.criteria]
    if not ranked:
      continue
    best = max(ranked, key=lambda one: one.criteria[name])
    line = f'{text:18} takes {best.run}, step {best.step:,}'
    if name in judged:
      line += (f' (score {judged[name].chosen:.1f}; regret@1 '
               f'{judged[name].regret:.1f}, rank correlation '
               f'{judged[name].correlation:+.2f} over '
               f'{judged[name].policies} policies)')
    lines.append(line)
  return '\n'.join(lines)


def _known(cache: pathlib.Path, gamma: Optional[float],
           bindings: Sequence[str]) -> dict[tuple[str, int], dict[str, Any]]:
  rows = map(json.loads, run_reader.whole_lines(cache))
  return {(row['run'], row['step']): row for row in rows
          if row['gamma_asked'] == gamma and row['bindings'] == list(bindings)}


def _note(cache: pathlib.Path, row: Mapping[str, Any]) -> None:
  with open(cache, 'a', encoding='utf-8') as file:
    file.write(json.dumps(row) + '\n')


def _ranks(values: np.ndarray) -> np.ndarray:
  _, inverse, counts = np.unique(
      values, return_inverse=True, return_counts=True)
  return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
