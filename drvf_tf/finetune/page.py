"""Fine-tunings beside each other: numbers, a table, a picture."""
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import errors, figures
from drvf_tf.finetune import collected_rows
from drvf_tf.runs import pictured, run_reader

# Online steps that the table looks at, where there is an evaluation.
_LOOKED_AT = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
_SWITCH = 5_000  # online steps in which a drop is the switch's
_LINES = ('-', '--', '-.')  # seeds; dotted is for what is there already


def make(folders: Sequence[str]) -> list[dict[str, Any]]:
  """Reads fine-tunings, finished or not.

  Args:
    folders: That launch/finetune.py wrote.

  Returns:
    The numbers of each, in JSON's terms; steps are online steps.

  Raises:
    UserError: A folder holds no fine-tuning.
  """
  return [_numbers(run_reader.RunReader(pathlib.Path(folder)))
          for folder in folders]


def _numbers(reader: run_reader.RunReader) -> dict[str, Any]:
  facts = reader.read_facts()
  if 'offline' not in facts:
    raise errors.UserError(
        f'{reader.path} is no fine-tuning: give a folder that '
        'launch/finetune.py wrote.')
  first = facts['offline']['step']
  rows = [row for row in reader.evaluations() if not row['final']]
  metrics = reader.metrics()
  steps = [step - first for step in metrics.pop('step', [])]
  shown = {name: metrics[name] for name in (
      'q_std_data', 'q_std_policy', 'collected_q_std', 'collected_in_support')
           if name in metrics}
  return {
      'run': str(reader.path), 'task': facts['task'], 'seed': facts['seed'],
      'method': facts['method'], 'offline': facts['offline'],
      'evaluations': {
          'step': [row['step'] - first for row in rows],
          'score': [row['score'] for row in rows],
          'mean_return': [row['mean_return'] for row in rows]},
      'metrics': {'step': steps, **shown},
      'collected': _episodes(reader, facts)}


def _episodes(reader: run_reader.RunReader,
              facts: Mapping[str, Any]) -> dict[str, list[float]]:
  """Where whole episodes of the collection ended, and their returns."""
  if not reader.collected_file.exists():
    return {'row': [], 'return': []}
  rows = collected_rows.read(reader.collected_file, facts['layout'])
  ends = np.flatnonzero(rows['episode_ends'])
  sums = np.cumsum(rows['rewards'], dtype=np.float64)[ends]
  return {'row': (ends + 1).tolist(),
          'return': np.diff(sums, prepend=0.0).tolist()}


def drop(numbers: Mapping[str, Any]) -> float:
  """How far the score falls below its start in the first online steps."""
  found = numbers['evaluations']
  early = [score for step, score in zip(found['step'], found['score'])
           if step <= _SWITCH]
  return early[0] - min(early) if early else 0.0


def table(numbers: Sequence[Mapping[str, Any]]) -> str:
  """The scores for a terminal."""
  steps = [step for step in _LOOKED_AT if any(
      step in found['evaluations']['step'] for found in numbers)]
  names = [f'{found["method"]}, seed {found["seed"]}' for found in numbers]
  width = max(map(len, names))
  lines = [' ' * width + f'{"offline":>9}'
           + ''.join(f'{step:>9,}' for step in steps) + f'{"drop":>9}']
  for name, found in zip(names, numbers):
    scores = dict(zip(found['evaluations']['step'],
                      found['evaluations']['score']))
    lines.append(
        f'{name:{width}}' + _cell(found['offline'].get('score'))
        + ''.join(_cell(scores.get(step)) for step in steps)
        + _cell(drop(found)))
  return '\n'.join([
      *lines, '', 'Normalised scores: of the offline run, then by online '
      f'steps; the drop is in the first {_SWITCH:,} of them.'])


def _cell(score: Any) -> str:
  return f'{"-":>9}' if score is None else f'{score:9.1f}'


def write(numbers: Sequence[Mapping[str, Any]],
          folder: pathlib.Path) -> list[pathlib.Path]:
  """Writes the numbers as JSON and the picture as PNG and SVG.

  Args:
    numbers: What `make` returned.
    folder: Where to; it need not exist.

  Returns:
    The files.
  """
  return pictured.write('finetune', numbers, picture(numbers), folder)


def picture(numbers: Sequence[Mapping[str, Any]]) -> figure_lib.Figure:
  """Scores over the offline level, q_std, the gate, what was collected."""
  drawn = figures.new(14.0, 7.5)
  (scores, spread), (gate, collected) = drawn.subplots(2, 2)
  styles = {name: figures.style(i) for i, name in enumerate(
      dict.fromkeys(found['method'] for found in numbers))}
  seeds = list(dict.fromkeys(found['seed'] for found in numbers))
  for found in numbers:
    line = _LINES[seeds.index(found['seed']) % len(_LINES)]
    style = {**styles[found['method']], 'markersize': 4, 'linestyle': line}
    label = f'{found["method"]}, seed {found["seed"]}'
    evaluations, metrics = found['evaluations'], found['metrics']
    scores.plot(evaluations['step'], evaluations['score'], label=label,
                **style)
    if 'score' in found['offline']:
      scores.axhline(found['offline']['score'], linestyle=':', linewidth=1,
                     color=style['color'])
    _plot(spread, metrics, 'collected_q_std', style)
    _plot(spread, metrics, 'q_std_data',
          {**style, 'linestyle': ':', 'marker': ''})
    if 'collected_in_support' in metrics:
      gate.plot(metrics['step'],
                1 - np.array(metrics['collected_in_support']), **style)
    collected.plot(found['collected']['row'], found['collected']['return'],
                   linewidth=0.8, color=style['color'], linestyle=line)
  scores.set(ylabel=figures.wrap(figures.SCORE, 30),
             title='greedy policy; dotted: the offline run')
  scores.legend(frameon=False, fontsize=8)
  spread.set(ylabel='std of Q', title='q_std of what is done; dotted: of data')
  gate.set(ylabel='share of steps', ylim=(-0.02, 1.02),
           title='steps whose action the data do not support')
  collected.set(ylabel='return', title='episodes collected')
  for axis in (scores, spread, gate, collected):
    axis.set(xlabel='online steps')
    axis.xaxis.set_major_formatter('{x:,.0f}')
    axis.grid(alpha=0.3)
  drawn.suptitle(', '.join(dict.fromkeys(
      found['task'] for found in numbers)), fontsize=11)
  return drawn


def _plot(axis: Any, metrics: Mapping[str, Any], name: str,
          style: Mapping[str, Any]) -> None:
  if name in metrics:
    axis.plot(metrics['step'], metrics[name], **style)
