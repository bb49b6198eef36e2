"""Rank correlation, nearest neighbours and returns, in NumPy alone."""
from typing import Optional

import numpy as np


def spearman(first: np.ndarray, second: np.ndarray) -> float:
  """Spearman's rank correlation; ties share their mean rank.

  Args:
    first: `[N]`.
    second: `[N]`.

  Returns:
    In [−1, 1]; NaN where either is constant.
  """
  ranks = [_ranks(np.asarray(values)) for values in (first, second)]
  deviations = [r - r.mean() for r in ranks]
  norm = np.sqrt(np.prod([np.sum(d**2) for d in deviations]))
  if norm == 0:
    return float('nan')
  return float(np.sum(deviations[0] * deviations[1]) / norm)


def _ranks(values: np.ndarray) -> np.ndarray:
  _, group, counts = np.unique(
      values, return_inverse=True, return_counts=True)
  last = np.cumsum(counts)
  return (last - (counts - 1) / 2)[group]


def nearest_distances(queries: np.ndarray, points: np.ndarray,
                      own: Optional[np.ndarray] = None,
                      chunk: int = 128) -> np.ndarray:
  """Euclidean distance of each query to the nearest point.

  Args:
    queries: `[B, d]`.
    points: `[N, d]`.
    own: `[B]`, for each query the point that it is itself, which does not
      count.
    chunk: Queries at a time: `[chunk, N]` distances are held at once.

  Returns:
    `[B]`.
  """
  points = np.asarray(points, np.float64)
  squares = np.sum(points**2, axis=1)
  nearest = np.empty(len(queries))
  for i in range(0, len(queries), chunk):
    rows = np.asarray(queries[i:i + chunk], np.float64)
    distances = squares - 2 * rows @ points.T  # less |query|²
    if own is not None:
      distances[np.arange(len(rows)), own[i:i + chunk]] = np.inf
    found = points[np.argmin(distances, axis=1)]
    nearest[i:i + chunk] = np.sqrt(np.sum((rows - found)**2, axis=1))
  return nearest


def returns_to_go(rewards: np.ndarray, episode_ends: np.ndarray,
                  gamma: float) -> np.ndarray:
  """Σ_t γ^t r_t from each row to the last kept row of its episode, `[N]`."""
  returns = np.empty(len(rewards))
  following = 0.0
  for i in range(len(rewards) - 1, -1, -1):
    following = rewards[i] + (0.0 if episode_ends[i] else gamma * following)
    returns[i] = following
  return returns


def complete(terminals: np.ndarray, episode_ends: np.ndarray, gamma: float,
             tolerance: float = 0.05) -> np.ndarray:
  """Where a return-to-go misses next to nothing, `[N]` bool.

  Args:
    terminals: `[N]`, true where the task ended.
    episode_ends: `[N]`, true on the last row of an episode.
    gamma: γ.
    tolerance: What may be cut off weighs at the most this much.

  Returns:
    True where the episode ends in a terminal, or γ^(rows left) is at most
    `tolerance`.
  """
  ends = np.flatnonzero(episode_ends)
  end = ends[np.searchsorted(ends, np.arange(len(episode_ends)))]
  left = end - np.arange(len(end)) + 1
  return np.asarray(terminals)[end] | (gamma**left <= tolerance)
