"""What a person sees: a progress bar, a closing table, a picture of curves."""
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tqdm

# Columns of the progress bar: metric, short name.
_SHOWN = (('td_loss', 'td'), ('q_data', 'Q'), ('overestimation', 'over'),
          ('q_std_data', 'std'), ('penalty_gap_policy', 'gap'),
          ('sigma_share', 'sigma'))
# What the closing table says of the last row of metrics.
_CLOSING = {
    'td_loss': 'TD loss', 'q_data': 'Q on data',
    'overestimation': "Q on data less the data's return",
    'q_std_data': 'Q-std on data', 'q_policy': 'Q on policy actions',
    'q_std_policy': 'Q-std on policy actions',
    'penalty_gap_policy': 'penalty gap, policy less data',
    'penalty_gap_uniform': 'penalty gap, uniform less data',
    'sigma_share': "σ's share of the variance of Q"}
# What an evaluation on data alone says: see `data_evaluation`.
_FROM_DATA = {
    'value': 'value at first states, mean of Q',
    'value_lcb': 'value at first states, lower bound',
    'td_error': 'TD error, held-out rows',
    'action_error': 'distance to the recorded actions'}
_LAST_EVALUATIONS = 10


class Progress:
  """A bar with steps/s, time left, the last score and the monitors."""

  def __init__(self, step: int, num_steps: int, title: str):
    terminal = sys.stderr.isatty()
    self._shown: dict[str, str] = {}
    self._bar = tqdm.tqdm(
        total=num_steps, initial=step, desc=title, unit='step',
        dynamic_ncols=terminal, mininterval=0.5 if terminal else 30,
        ncols=None if terminal else 150)

  def advance(self, steps: int, metrics: Mapping[str, float]) -> None:
    """Moves the bar and shows the metrics."""
    self.show(metrics)
    self._bar.update(steps)

  def show(self, metrics: Mapping[str, float]) -> None:
    """Shows metrics until others of the same name come."""
    self._shown.update({short: f'{metrics[name]:.3g}'
                        for name, short in _SHOWN if name in metrics})
    self._bar.set_postfix(self._shown, refresh=False)

  def evaluated(self, row: Mapping[str, Any]) -> None:
    """Shows the score of an evaluation, or what there is in its place."""
    if 'score' in row:
      self._shown['score'] = f'{row["score"]:.1f}'
    elif 'value_lcb' in row:
      self._shown['LCB'] = f'{row["value_lcb"]:.3g}'

  def say(self, text: str) -> None:
    """Prints a line above the bar."""
    self._bar.write(text, file=sys.stderr)

  def close(self) -> None:
    """Leaves the bar as it is."""
    self._bar.close()


def summary(evaluations: Sequence[Mapping[str, Any]],
            metrics: Mapping[str, list[float]]) -> dict[str, Any]:
  """The numbers of a finished run; never the best of the evaluations.

  Args:
    evaluations: Rows of evaluations.jsonl.
    metrics: Columns of metrics.csv.

  Returns:
    Scores and the last metrics.
  """
  scored = [row for row in evaluations if 'score' in row]
  regular = [row['score'] for row in scored if not row['final']]
  final = [row for row in scored if row['final']]
  last = regular[-_LAST_EVALUATIONS:]
  result: dict[str, Any] = {}
  if evaluations and not scored:
    result.update({name: evaluations[-1][name] for name in _FROM_DATA
                   if name in evaluations[-1]})
  if final:
    result['final_score'] = final[-1]['score']
    result['final_episodes'] = len(final[-1]['returns'])
    result['final_mean_return'] = final[-1]['mean_return']
    result['final_return_std'] = float(np.std(final[-1]['returns']))
  if last:
    result['last_evaluations'] = len(last)
    result['last_evaluations_score'] = float(np.mean(last))
  for name in _CLOSING:
    if metrics.get(name):
      result[name] = metrics[name][-1]
  return result


def table(task: str, step: int, result: Mapping[str, Any],
          folder: pathlib.Path) -> str:
  """The closing table."""
  rows: list[tuple[str, str]] = [('task', task), ('steps', f'{step:,}')]
  if 'final_score' in result:
    rows.append((f'score, {result["final_episodes"]} final episodes',
                 f'{result["final_score"]:.1f}'))
    rows.append(('return, mean ± std over episodes',
                 f'{result["final_mean_return"]:.2f} ± '
                 f'{result["final_return_std"]:.2f}'))
  if 'last_evaluations_score' in result:
    rows.append((f'score, mean of last {result["last_evaluations"]} '
                 'evaluations', f'{result["last_evaluations_score"]:.1f}'))
  rows += [(text, f'{result[name]:.4g}') for name, text
           in {**_FROM_DATA, **_CLOSING}.items() if name in result]
  rows += [('curves', str(folder / 'curve.png')),
           ('policy (SavedModel)', str(folder / 'policy')),
           ('everything else', str(folder))]
  width = max(len(name) for name, _ in rows)
  line = '-' * (width + 2 + max(len(value) for _, value in rows))
  return '\n'.join([line, *(f'{name:<{width}}  {value}'
                            for name, value in rows), line])


def draw_curves(evaluations: Sequence[Mapping[str, Any]],
                metrics: Mapping[str, list[float]], title: str,
                path: pathlib.Path) -> None:
  """Draws scores and monitors over steps; docs/healthy.md reads them."""
  import matplotlib
  matplotlib.use('Agg')
  from matplotlib import pyplot as plt
  from matplotlib import ticker
  figure, axes = plt.subplots(2, 3, figsize=(14, 6), sharex=True)
  _draw_scores(axes[0, 0], evaluations)
  panels = ((axes[0, 1], 'Q less what the data returned',
             ('overestimation',), 'linear'),
            (axes[0, 2], 'penalty less that at data actions',
             ('penalty_gap_policy', 'penalty_gap_uniform'), 'linear'),
            (axes[1, 0], 'Q-std',
             ('q_std_data', 'q_std_policy', 'q_std_uniform'), 'linear'),
            (axes[1, 1], "σ's share of the variance of Q",
             ('sigma_share',), 'linear'),
            (axes[1, 2], 'TD loss', ('td_loss',), 'log'))
  for axis, label, names, scale in panels:
    for name in names:
      if metrics.get(name):
        axis.plot(metrics['step'], metrics[name], label=name)
    axis.set(ylabel=label, yscale=scale)
    if len(names) > 1 and axis.lines:  # BC has no Q
      axis.legend()
  for axis in axes.flat:
    axis.grid(alpha=0.3)
  for axis in axes[1]:
    axis.set_xlabel('train steps')
    # Few enough for millions of steps not to touch.
    axis.xaxis.set_major_locator(
        ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.xaxis.set_major_formatter('{x:,.0f}')
  figure.suptitle(title)
  figure.tight_layout()
  unfinished = path.with_name(f'.{path.name}')
  figure.savefig(unfinished, dpi=120, format='png')
  os.replace(unfinished, path)
  plt.close(figure)


def _draw_scores(axis: Any, evaluations: Sequence[Mapping[str, Any]]) -> None:
  regular = [row for row in evaluations if not row['final']]
  if evaluations and 'score' not in evaluations[0]:
    _draw_values(axis, regular or evaluations)
    return
  axis.plot([row['step'] for row in regular],
            [row['score'] for row in regular], '.-', label='evaluation')
  final: Optional[Mapping[str, Any]] = next(
      (row for row in evaluations if row['final']), None)
  if final is not None:
    axis.plot(final['step'], final['score'], '*', markersize=12,
              label=f'final, {len(final["returns"])} episodes')
  axis.set(ylabel='normalised score')
  axis.legend()


def _draw_values(axis: Any, rows: Sequence[Mapping[str, Any]]) -> None:
  """What there is without a simulator: the run's own values."""
  for name in ('value', 'value_lcb'):
    if name in rows[0]:
      axis.plot([row['step'] for row in rows], [row[name] for row in rows],
                '.-', label=_FROM_DATA[name])
  if not axis.lines:  # no critic that knows a value
    axis.plot([row['step'] for row in rows],
              [row['action_error'] for row in rows], '.-',
              label=_FROM_DATA['action_error'])
  axis.set(ylabel='no simulator: on data alone')
  axis.legend()
