"""From run folders to Fig. 3 and its numbers."""
import json
import pathlib
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.policies import uncertainty_policy
from drvf_tf.runs import restoring, run_reader
from drvf_tf.uncertainty import figure, measures
from drvf_tf.uncertainty import points as points_lib

Say = Callable[[str], None]


class Report(NamedTuple):
  """What was measured.

  Attributes:
    points: The pairs that all runs were asked about.
    q_stds: `[B]` of each run.
    numbers: In JSON's terms.
  """
  points: points_lib.Points
  q_stds: list[np.ndarray]
  numbers: dict[str, Any]


def make(runs: Sequence[str], source: str, checkpoint: str = 'last',
         labels: Sequence[str] = (), num_points: int = 2_000,
         num_rows: int = 10_000, seed: int = 0,
         say: Say = print) -> Report:
  """Measures one run after another at the same points.

  Args:
    runs: Run folders of one task and one dataset.
    source: Out-of-distribution pairs; see `points.read_ood`. The
      policy of 'policy' is the first run's.
    checkpoint: 'last', 'best', or a step.
    labels: What to call the runs; their agents and folders by default.
    num_points: Pairs in all, half of them in distribution.
    num_rows: Rows for the coverage and for Γ.
    seed: Of the choice of points and rows.
    say: Takes lines of progress.

  Returns:
    The report.
  """
  facts = [run_reader.RunReader(pathlib.Path(run)).read_facts()
           for run in runs]
  _check_alike(runs, facts)
  ood = points_lib.read_ood(source, facts[0]['task'])
  points: Optional[points_lib.Points] = None
  measured = []
  for number, run in enumerate(runs, start=1):
    say(f'Run {number} of {len(runs)}: restoring {run} ...')
    restored = restoring.restore(run, checkpoint)
    if not uncertainty_policy.knows_uncertainty(restored.agent):
      raise errors.UserError(
          f'{run} is a run of {type(restored.agent).__name__}, which has no '
          'ensemble critic and so no q_std: name a run of the '
          'EnsembleSacAgent family.')
    if points is None:
      say('Choosing points, and the nearest data of each ...')
      points = points_lib.draw(
          restored.dataset, source, ood, _greedy(restored),
          num_points // 2, seed)
    say(f'Run {number} of {len(runs)}: measuring ...')
    found = measures.measure(restored, points, num_rows, seed)
    name = (labels[number - 1] if labels
            else f'{found.numbers["agent"]}, {pathlib.Path(run).name}')
    measured.append(found._replace(
        numbers={'label': name, 'run': str(run), **found.numbers}))
  assert points is not None
  return Report(points, [m.q_std for m in measured], {
      'ood': source, 'seed': seed, 'in_distribution': points.inside,
      'out_of_distribution': points.outside,
      'runs': [m.numbers for m in measured]})


def _greedy(run: restoring.RestoredRun) -> points_lib.Act:
  policy = uncertainty_policy.of_agent(run.agent, run.dataset)
  return lambda observations: policy.greedy(tf.constant(observations)).numpy()


def _check_alike(runs: Sequence[str],
                 facts: Sequence[dict[str, Any]]) -> None:
  """Points are drawn once, for all runs: their data must be the same."""
  for key, what in (('task', 'tasks'), ('dataset', 'data')):
    values = [fact.get(key) for fact in facts]
    if len(set(values)) > 1:
      raise errors.UserError(
          f'{" and ".join(map(str, runs))} are runs on different {what} '
          f'({" and ".join(map(str, values))}): name runs on the same.')


def table(numbers: dict[str, Any]) -> str:
  """The numbers for a terminal."""
  rows = [('', 'label', '{}'), ('train steps', 'step', '{:,}'),
          ('AUROC of q_std, OOD against data', 'auroc', '{:.3f}'),
          ('mean q_std, in distribution', 'q_std_in', '{:.4g}'),
          ('mean q_std, out of distribution', 'q_std_out', '{:.4g}'),
          ('mean distance to data, in', 'distance_in', '{:.3g}'),
          ('mean distance to data, out', 'distance_out', '{:.3g}'),
          ('rank correlation, q_std and distance', 'spearman_q_std_distance',
           '{:.3f}')]
  lines = [_line(name, [form.format(run[key]) for run in numbers['runs']])
           for name, key, form in rows]
  lines += _part(numbers, 'lcb_coverage', [
      ('q_lcb ≤ return*, complete returns', 'complete_returns'),
      ('q_lcb ≤ return*, cut ones too', 'all_rows'),
      ('share of rows with complete returns', 'share_of_complete_rows')])
  lines += _part(numbers, 'exact_penalty', [
      ('rank correlation, posterior std and Γ', 'spearman'),
      ('posterior std / Γ, in', 'std_over_gamma_in'),
      ('posterior std / Γ, out', 'std_over_gamma_out')])
  lines += [
      f'in distribution:     {numbers["in_distribution"]}',
      f'out of distribution: {numbers["out_of_distribution"]}',
      "* discounted, of the behaviour policy: not the value of the run's own "
      'policy, which q_lcb bounds.']
  lines += [f'{run["label"]}: {run["exact_penalty"]["absent"]}.'
            for run in numbers['runs'] if 'absent' in run['exact_penalty']]
  return '\n'.join(lines)


def _part(numbers: dict[str, Any], part: str,
          rows: Sequence[Sequence[str]]) -> list[str]:
  return [_line(name, [_number(run[part].get(key))
                       for run in numbers['runs']]) for name, key in rows]


def _number(value: Optional[float]) -> str:
  return '-' if value is None else f'{value:.3g}'


def _line(name: str, values: Sequence[str]) -> str:
  return f'{name:40}' + ''.join(f'{value:>26}' for value in values)


def write(report: Report, folder: pathlib.Path) -> list[pathlib.Path]:
  """Writes the numbers as JSON and the picture as PNG and SVG.

  Args:
    report: What `make` returned.
    folder: Where to; it need not exist.

  Returns:
    The files.
  """
  paths = [folder / f'uncertainty.{kind}' for kind in ('json', 'png', 'svg')]
  numbers = report.numbers
  try:
    folder.mkdir(parents=True, exist_ok=True)
    paths[0].write_text(json.dumps(numbers, indent=2, ensure_ascii=False)
                        + '\n', encoding='utf-8')
    figure.save(
        figure.embed(report.points.scaled, numbers['seed']),
        report.points.is_ood, report.q_stds,
        [_title(run) for run in numbers['runs']], _caption(numbers),
        paths[1:])
  except OSError as error:
    raise errors.UserError(
        f'{folder} cannot be written to ({error.strerror}): name another '
        'folder with --out.') from error
  return paths


def _title(run: dict[str, Any]) -> str:
  return (f'{run["label"]}\n{run["step"]:,} steps, seed {run["seed"]}: AUROC '
          f'{run["auroc"]:.2f}, mean q_std {run["q_std_in"]:.3g} in, '
          f'{run["q_std_out"]:.3g} out')


def _caption(numbers: dict[str, Any]) -> str:
  return (f'{numbers["runs"][0]["task"]}. In distribution: '
          f'{numbers["in_distribution"]}.\nOut of distribution: '
          f'{numbers["out_of_distribution"]}.')
