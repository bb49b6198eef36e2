"""A SavedModel policy, evaluated on its own."""
from typing import Any

import numpy as np

from drvf_tf.train import evaluation, rollouts, tasks

_BOOTSTRAP_SAMPLES = 10_000


def evaluate(act: tasks.Act, task: tasks.Task,
             num_episodes: int, seed: int) -> dict[str, Any]:
  """Scores a policy over seeded episodes in parallel processes.

  Args:
    act: Observations `[B, obs]` to actions `[B, act]`.
    task: See `tasks`.
    num_episodes: How many.
    seed: Of the episodes and of the bootstrap.

  Returns:
    The mean normalised score with its 95 % interval, and every return.
  """
  pool = rollouts.Rollouts(task)
  try:
    episodes = pool.run(
        act, evaluation.episode_seeds(seed, 0, num_episodes, stream=2))
  finally:
    pool.close()
  returns = [episode.episode_return for episode in episodes]
  scores = task.score(returns)
  return {
      'task': task.name,
      'episodes': num_episodes,
      'seed': seed,
      'score': float(np.mean(scores)),
      'score_ci95': confidence_interval(scores, seed),
      'mean_return': float(np.mean(returns)),
      'returns': returns,
      'lengths': [episode.length for episode in episodes],
  }


def confidence_interval(values: np.ndarray, seed: int) -> tuple[float, float]:
  """95 % bootstrap interval of the mean over episodes."""
  random = np.random.default_rng(seed)
  rows = random.integers(len(values), size=[_BOOTSTRAP_SAMPLES, len(values)])
  low, high = np.percentile(values[rows].mean(axis=1), [2.5, 97.5])
  return float(low), float(high)
