"""What is in a dataset, in numbers: text and JSON."""
from typing import Any

import numpy as np

from drvf_tf.data import offline_dataset

# An action this close to its bound, as a share of half the range, saturates.
_SATURATION = 0.01
_GRID = 50


def make(dataset: offline_dataset.OfflineDataset) -> dict[str, Any]:
  """The card of a dataset; plain numbers, ready for JSON."""
  returns = dataset.episode_returns()
  card: dict[str, Any] = {
      'name': dataset.name,
      'provenance': dataset.provenance,
      'sha256': dataset.hash(),
      'rows': dataset.size,
      'episodes': dataset.num_episodes,
      'episode_length': _summary(dataset.episode_lengths()),
      'return': _summary(returns),
      'terminals': int(dataset.terminals.sum()),
      'timeouts': int((dataset.episode_ends & ~dataset.terminals).sum()
                      - dataset.cut_off),
      'cut_off': int(dataset.cut_off),
      'reward': _summary(dataset.rewards),
      'rewarded_share': float(np.mean(dataset.rewards != 0)),
      'action_low': dataset.action_low.tolist(),
      'action_high': dataset.action_high.tolist(),
      'bounds_from': dataset.bounds_from,
      'action_saturation': _saturation(dataset),
      'observation_min': dataset.observations.min(axis=0).tolist(),
      'observation_max': dataset.observations.max(axis=0).tolist(),
      'coverage': coverage(dataset.observations),
  }
  if dataset.reference_scores is not None:
    low, high = dataset.reference_scores
    card['normalized_score'] = _summary(100 * (returns - low) / (high - low))
  return card


def _summary(values: np.ndarray) -> dict[str, float]:
  values = np.asarray(values, np.float64)
  quartiles = np.percentile(values, [0, 25, 50, 75, 100])
  names = ('min', 'p25', 'median', 'p75', 'max')
  return {'mean': float(values.mean()), 'std': float(values.std()),
          **{name: float(q) for name, q in zip(names, quartiles)}}


def _saturation(dataset: offline_dataset.OfflineDataset) -> float:
  """Share of single action entries at a bound."""
  half = (dataset.action_high - dataset.action_low) / 2
  middle = (dataset.action_high + dataset.action_low) / 2
  return float(np.mean(
      np.abs(dataset.actions - middle) >= (1 - _SATURATION) * half))


def principal_components(observations: np.ndarray) -> np.ndarray:
  """The two leading components of standardised observations, [size, 2]."""
  scaled = observations - observations.mean(axis=0, dtype=np.float64)
  scaled /= scaled.std(axis=0) + 1e-8
  _, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
  return scaled @ vectors[:, :-3:-1]


def coverage(observations: np.ndarray) -> dict[str, float]:
  """How much of the state space the data visit.

  `grid_share` is the share of cells visited in a 50 x 50 grid over the range
  of the two leading principal components; `effective_dimensions` is the
  participation ratio of the states' correlation matrix.
  """
  if observations.shape[1] < 2:
    return {'grid_share': 1., 'effective_dimensions': 1.}
  first, second = principal_components(observations).T
  counts, _, _ = np.histogram2d(first, second, _GRID)
  std = observations.std(axis=0, dtype=np.float64)
  moving = std > 1e-8  # a constant entry has no correlation
  if not moving.any():
    return {'grid_share': 1 / _GRID**2, 'effective_dimensions': 0.}
  correlation = np.atleast_2d(np.corrcoef(observations[:, moving].T))
  values = np.linalg.eigvalsh(correlation)
  return {'grid_share': float(np.mean(counts > 0)),
          'effective_dimensions': float(values.sum()**2 / (values**2).sum())}


def to_text(card: dict[str, Any]) -> str:
  """The card for a terminal."""
  return '\n'.join(f'{label:>18}  {value}' for label, value in to_rows(card))


def to_rows(card: dict[str, Any]) -> list[tuple[str, str]]:
  """The card as (what, value) in words."""

  def spread(key: str, digits: int = 1) -> str:
    values = card[key]
    return (f'{values["mean"]:.{digits}f} ± {values["std"]:.{digits}f}  '
            f'(min {values["min"]:.{digits}f}, '
            f'quartiles {values["p25"]:.{digits}f} '
            f'{values["median"]:.{digits}f} {values["p75"]:.{digits}f}, '
            f'max {values["max"]:.{digits}f})')

  lines = [
      ('dataset', card['name']),
      ('source', card['provenance']),
      ('sha256', card['sha256']),
      ('rows', f'{card["rows"]:,} in {card["episodes"]:,} episodes'),
      ('episode length', spread('episode_length')),
      ('return', spread('return')),
  ]
  if 'normalized_score' in card:
    lines.append(('normalised score', spread('normalized_score')))
  lines += [
      ('episode ends', f'{card["terminals"]:,} terminal, '
                       f'{card["timeouts"]:,} timed out'
                       + ', 1 cut off by the end of the recording'
                       * card['cut_off']),
      ('reward', spread('reward', 3)),
      ('rewarded rows', f'{100 * card["rewarded_share"]:.2f} %'),
      ('lowest action', f'{_row(card["action_low"])}  (bounds from '
                        f'{card["bounds_from"] or "nowhere noted"})'),
      ('highest action', _row(card['action_high'])),
      ('saturated actions', f'{100 * card["action_saturation"]:.2f} %'),
      ('state minimum', _row(card['observation_min'])),
      ('state maximum', _row(card['observation_max'])),
      ('coverage', f'{100 * card["coverage"]["grid_share"]:.1f} % of a grid '
                   'over 2 principal components, '
                   f'{card["coverage"]["effective_dimensions"]:.1f} effective '
                   'dimensions'),
  ]
  return lines


def _row(values: Any) -> str:
  return ' '.join(f'{value:.3g}' for value in values)
