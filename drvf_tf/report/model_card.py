"""The page that goes with a deployed policy: self-contained HTML."""
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drvf_tf import figures
from drvf_tf.data import card, offline_dataset
from drvf_tf.ope import estimates, own_critic, run_estimates
from drvf_tf.policies import support
from drvf_tf.report import document, model_card_pictures
from drvf_tf.runs import restoring, run_folder, run_reader, settings

NAME = 'model_card.html'


def write(run: restoring.RestoredRun, folder: str, report: Mapping[str, Any],
          out: pathlib.Path) -> pathlib.Path:
  """Writes the card beside an export.

  Args:
    run: What was exported, its configuration in gin.
    folder: Its run folder; `launch/evaluate.py --offline` may have left its
      estimates there.
    report: The content of export.json.
    out: The folder of the export.

  Returns:
    The page.
  """
  reader = run_reader.RunReader(pathlib.Path(folder))
  found = _offline(reader, run)
  critic = own_critic.OwnCritic(run.agent, run.dataset)
  images: dict[str, bytes] = {}
  if critic.policy is not None and report.get('support'):
    images = {name: figures.encode(picture)[0] for name, picture in
              model_card_pictures.draw(
                  critic, run, report['support']['gate_threshold']).items()}
  title = f'{method(run)} on {run.facts["task"]}: model card'
  page = document.to_html(
      title, blocks(run, reader, report, found, bool(images)),
      images)
  run_folder.write_atomically(out / NAME, page)
  return out / NAME


def blocks(run: restoring.RestoredRun, reader: run_reader.RunReader,
           report: Mapping[str, Any], found: Mapping[str, Any],
           pictured: bool) -> list[document.Block]:
  """The card's content, in order."""
  return [
      document.Text(
          f'{method(run)}, seed {run.facts["seed"]}, {run.step:,} train steps, '
          f'exported {_day(report["written"])}. Trained offline on recorded '
          'data; it has learned from no action of its own.'),
      document.Heading('What it must not be used for'),
      document.Bullets(tuple(limits(run, reader, report, found))),
      document.Heading('What it is worth'), *_worth(reader, found),
      document.Heading('When to trust an answer'),
      *_gate(report, pictured),
      document.Heading('Data'),
      document.Table(
          'data', 'What it was trained on, as recorded.', ['entry', 'value'],
          card.to_rows(card.make(_raw(run.dataset)))),
      document.Heading('Method'), *_made(run, report)]


def method(run: restoring.RestoredRun) -> str:
  """What the method is called."""
  return run.facts.get('method') or settings.method(settings.read(run.config))


def limits(run: restoring.RestoredRun, reader: run_reader.RunReader,
           report: Mapping[str, Any],
           found: Mapping[str, Any]) -> list[str]:
  """What speaks against using the policy, one sentence each."""
  texts = [
      f'Any system but the one that recorded {run.dataset.provenance}, and '
      'that one after it was changed: nothing is known of another.',
      'States outside the ranges below (state minimum and maximum), in each '
      'entry and in combinations that were never recorded.']
  measured = report.get('support')
  if measured:
    closed = 100 * measured['gate_closed']['policy_actions']
    texts.append(
        f'Actions for which in_support is false ({closed:.1f} % of those it '
        'chooses in recorded states): there its critic is less sure than on '
        f'{100 * measured["gate_quantile"]:g} % of the data. The gate is no '
        'safety by itself.')
  else:
    texts.append(f'{report.get("no_statistics", "There is no gate.")} Nothing '
                 'warns of a state that it does not know.')
  named = {one['name']: one for one in found['estimates']}
  own, data = named.get('fqe') or named.get('lcb'), named.get('behaviour')
  if own and data and any(
      text.startswith('horizon') for text in data['warnings']):
    texts.append(
        'Taking the place of what recorded the data, on these numbers alone: '
        'its estimate reaches beyond where episodes were cut, what the data '
        'got does not, and the two cannot be compared.')
  elif own and data and own['low'] <= data['value']:
    texts.append(
        'Taking the place of what recorded the data, on these numbers alone: '
        f'the low end of its estimate ({own["low"]:.4g}) is not above what '
        f'the data got ({data["value"]:.4g}).')
  if not _scores(reader):
    texts.append('Unattended use: no simulator and no trial has confirmed '
                 'these estimates.')
  return texts


def _offline(reader: run_reader.RunReader,
             run: restoring.RestoredRun) -> Mapping[str, Any]:
  """What evaluate --offline found for this step, or what costs nothing."""
  try:
    found = json.loads(reader.offline_file.read_text(encoding='utf-8'))
    if found['step'] == run.step:
      return found
  except (OSError, ValueError, KeyError):
    pass
  rows = run_estimates.recorded(run)
  gamma = run_estimates.discount(run)
  known = estimates.OfflineEvaluation(rows, gamma).without_a_fit(
      run_estimates.policy_of(run, str(reader.path)))
  return {'gamma': gamma, 'data': rows.provenance, 'rows': rows.size,
          'episodes': rows.num_episodes, 'unfitted': True,
          'estimates': estimates.to_json(known)}


def _worth(reader: run_reader.RunReader,
           found: Mapping[str, Any]) -> list[document.Block]:
  rows = [[estimates.NAMES[one['name']], f'{one["value"]:.4g}',
           f'{one["low"]:.4g}\u00a0to\u00a0{one["high"]:.4g}',
           '' if one['sample_size'] is None else f'{one["sample_size"]:,.4g}',
           '; '.join(one['warnings'])] for one in found['estimates']]
  result: list[document.Block] = [document.Table(
      'estimates', f'Discounted returns at γ = {found["gamma"]:g} in the units '
      f'of the recorded rewards, from {found["episodes"]:,} episodes of '
      f'{found["data"]} alone; episodes: how many carry the weights.',
      ['estimate', 'value', '95 % interval', 'episodes', 'warnings'], rows)]
  if found.get('unfitted'):
    result.append(document.Text(
        'There is no fitted Q evaluation of this step: launch/evaluate.py '
        '--offline before the export adds it, and importance sampling.'))
  scores = _scores(reader)
  if scores:
    final = scores[-1]
    result.append(document.Text(
        f'In the simulator of the run, {len(final["returns"])} episodes at '
        f'step {final["step"]:,}: normalised score {final["score"]:.1f}, mean '
        f'return {final["mean_return"]:.2f}.'))
  return result


def _gate(report: Mapping[str, Any],
          pictured: bool) -> list[document.Block]:
  measured = report.get('support')
  if not measured:
    return [document.Text(report.get('no_statistics') or 'There is no gate.')]
  closed, mean = measured['gate_closed'], measured['q_std_mean']
  result: list[document.Block] = [document.Table(
      'gate', f'in_support is false where q_std is above '
      f'{measured["gate_threshold"]:.4g}, the {measured["gate_quantile"]:g} '
      f'quantile on data ({measured["rows"]}). Where it is false acts: '
      f'{report.get("fallback") or "the policy itself"}.',
      ['actions', 'mean q_std', 'gate closed'],
      [[name.replace('_', ' '), f'{mean[name]:.4g}',
        f'{100 * closed[name]:.1f} %'] for name in closed])]
  if pictured:
    result += [
        document.Figure('certainty', 'q_std at recorded states.', None, True),
        document.Figure(
            'calibration', 'Rows sorted by Q, bars of one q_std. Below the '
            'line the data returned less than Q says: its own policy may be '
            'better than theirs, so that such points are no proof. What would '
            'have followed a timeout counts as the mean reward of the rows.',
            None, True)]
  return result


def _made(run: restoring.RestoredRun,
          report: Mapping[str, Any]) -> list[document.Block]:
  bindings = settings.that_matter(settings.read(run.config))
  facts = [f'agent: {report["agent"]}', f'seed: {run.facts["seed"]}',
           f'commit: {run.facts.get("git_commit") or "not known"}',
           'versions: ' + ', '.join(
               f'{name} {version}' for name, version in
               run.facts.get('versions', {}).items())]
  return [document.Code(tuple(facts)), document.Code(tuple(
      f'{name} = {value}' for name, value in sorted(bindings.items())))]


def _day(written: str) -> str:
  """2026-01-31T12:00:00+00:00 to the minute."""
  return written[:16].replace('T', ' ')


def _raw(dataset: offline_dataset.OfflineDataset
         ) -> offline_dataset.OfflineDataset:
  """Trained-on rows with observations and rewards as they were recorded."""
  return dataset.replace(
      observations=support.raw_observations(dataset),
      rewards=dataset.rewards / np.float32(dataset.reward_scale)
      + np.float32(dataset.reward_offset))


def _scores(reader: run_reader.RunReader) -> Sequence[dict[str, Any]]:
  """The run's evaluations in a simulator, the final one last."""
  rows = [row for row in reader.evaluations() if 'returns' in row]
  return sorted(rows, key=lambda row: row['final'])
