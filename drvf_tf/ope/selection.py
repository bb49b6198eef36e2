"""From run folders to policies to choose among: every checkpoint evaluated."""
import csv
import hashlib
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

import numpy as np

from drvf_tf import errors
from drvf_tf.ope import estimates, ranking, run_estimates
from drvf_tf.runs import checkpoint_files, restoring, run_reader

_ROWS = 4_000  # of errors
# Threads are chosen once, before the first run is restored.
_THREADS = ('configure_runtime.intra_op_threads=None',
            'configure_runtime.inter_op_threads=None')

Scores = Mapping[tuple[str, int], float]


def folders(names: Sequence[str]) -> tuple[list[str], list[str]]:
  """Run folders at or below what was named.

  Args:
    names: Run folders, or folders to search for them.

  Returns:
    Those with checkpoints, each once, and those without.

  Raises:
    UserError: There is no run where one was named, or no checkpoint at all.
  """
  found: dict[str, bool] = {}
  for name in names:
    paths = list(run_reader.search(pathlib.Path(name)))
    if not paths:
      raise errors.UserError(
          f'There is no run folder in {name}: give folders that '
          'launch/train.py wrote.')
    for path in paths:
      reader = run_reader.RunReader(path)
      found[str(path)] = bool(checkpoint_files.steps(
          reader.checkpoints_folder))
  if not any(found.values()):
    raise errors.UserError(
        f'There is no checkpoint to select among in {", ".join(found)}: '
        'train with train_eval.keep_every.')
  return ([path for path, has in found.items() if has],
          [path for path, has in found.items() if not has])


def candidates(runs: Sequence[str], gamma: Optional[float],
               cache: pathlib.Path, bindings: Sequence[str] = (),
               scores: Optional[Scores] = None
               ) -> Iterator[ranking.Candidate]:
  """Evaluates every checkpoint of every run.

  Args:
    runs: Run folders, on the same data.
    gamma: γ; the first run's by default.
    cache: A file of what was evaluated before, which is not again.
    bindings: gin bindings on top of each run's configuration.
    scores: Of a simulator, by run and step; the runs' records by default.

  Yields:
    The candidates, as they are ready.

  Raises:
    UserError: Runs are on different data.
  """
  known = _known(cache, gamma, bindings)
  shared = _Shared(gamma)
  for folder in runs:
    reader = run_reader.RunReader(pathlib.Path(folder))
    recorded = recorded_scores(reader) if scores is None else {
        step: score for (run, step), score in scores.items() if run == folder}
    run: Optional[restoring.RestoredRun] = None
    for step in checkpoint_files.steps(reader.checkpoints_folder):
      content = _content(reader, step)
      found = known.get((folder, step, content))
      if found is None:
        run = (restoring.restore(folder, str(step), [*_THREADS, *bindings])
               if run is None else restoring.move(run, folder, str(step)))
        found = _evaluate(run, folder, shared.evaluation(run))
        found.update(gamma_asked=gamma, bindings=list(bindings),
                     checkpoint=content, data_hash=shared.data_hash)
        _note(cache, found)
      shared.check(found)
      yield ranking.Candidate(
          folder, found['method'], found['seed'], step, _criteria(found),
          found['estimates'], recorded.get(step))


class _Shared:
  """One evaluation for all runs: their data and γ must be the same."""

  def __init__(self, gamma: Optional[float]):
    self._gamma = gamma
    self._settings: dict[str, Any] = {}
    self._evaluation: Optional[estimates.OfflineEvaluation] = None
    self._first: Optional[Mapping[str, Any]] = None
    self.data_hash = ''

  def evaluation(self, run: restoring.RestoredRun
                 ) -> estimates.OfflineEvaluation:
    """The evaluation, for a run whose configuration gin holds."""
    settings = run_estimates.data_settings()
    if self._evaluation is None or settings != self._settings:
      rows = run_estimates.recorded(run)
      data_hash = rows.hash()
      self.check({'data_hash': data_hash, 'data': rows.provenance})
      if self._evaluation is None:
        gamma = self._first['gamma'] if self._first else (
            run_estimates.discount(run, self._gamma))
        self._evaluation = estimates.OfflineEvaluation(rows, gamma)
      self._settings, self.data_hash = settings, data_hash
    return self._evaluation

  def check(self, found: Mapping[str, Any]) -> None:
    """Raises where something is not of the first candidate's data."""
    if self._first is None:
      if 'gamma' in found:
        self._first = found
      return
    first = self._first
    if found['data_hash'] != first['data_hash']:
      raise errors.UserError(
          f'The runs are on different data ({first["data"]} of '
          f'{first["run"]}, and {found["data"]}), where estimates cannot be '
          'compared: select among runs on one dataset.')
    if found.get('gamma', first['gamma']) != first['gamma']:
      raise errors.UserError(
          f'{found["run"]} was evaluated at γ = {found["gamma"]:g} before, and '
          f'{first["run"]} at {first["gamma"]:g}: choose one with --discount.')


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
  return {name: named[name] for name in ranking.CRITERIA if name in named}


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


def _content(reader: run_reader.RunReader, step: int) -> str:
  """Of a checkpoint: another training of the same folder has another."""
  path = reader.checkpoint(str(step))
  return hashlib.sha256(
      (path / checkpoint_files.STATE).read_bytes()).hexdigest()


def _known(cache: pathlib.Path, gamma: Optional[float],
           bindings: Sequence[str]
           ) -> dict[tuple[str, int, Optional[str]], dict[str, Any]]:
  rows = map(json.loads, run_reader.whole_lines(cache))
  return {(row['run'], row['step'], row.get('checkpoint')): row for row in rows
          if row['gamma_asked'] == gamma and row['bindings'] == list(bindings)}


def _note(cache: pathlib.Path, row: Mapping[str, Any]) -> None:
  with open(cache, 'a', encoding='utf-8') as file:
    file.write(json.dumps(row) + '\n')
