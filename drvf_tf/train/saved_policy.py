"""A SavedModel policy, evaluated on its own."""
import pathlib
from typing import Any, Optional

import numpy as np

from drvf_tf.train import evaluation, rollouts, tasks

_BOOTSTRAP_SAMPLES = 10_000
# Of a film.
_STEPS_PER_FRAME = 3
_FRAME_SIZE = 200  # pixels
_COLOURS = 48


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


def film(act: tasks.Act, task: tasks.Task, seed: int, path: pathlib.Path,
         num_steps: Optional[int] = None) -> None:
  """Writes one episode as an animated GIF, small enough for a page.

  Args:
    act: Observations `[B, obs]` to actions `[B, act]`.
    task: See `tasks`.
    seed: The episode is the first of `evaluate` with the same seed.
    path: Where to write; must end in .gif.
    num_steps: How many steps of the episode are shown; None for all.
  """
  from PIL import Image
  frames: list[Image.Image] = []
  count = 0

  def watch(env: Any) -> None:
    nonlocal count
    if count % _STEPS_PER_FRAME == 0 and (
        num_steps is None or count < num_steps):
      picture = Image.fromarray(env.render(mode='rgb_array'))
      picture.thumbnail((_FRAME_SIZE, _FRAME_SIZE))
      frames.append(picture.quantize(_COLOURS))
    count += 1

  task.episode(lambda observation: act(observation[np.newaxis])[0],
               evaluation.episode_seeds(seed, 0, 1, stream=2)[0], watch)
  frames[0].save(path, save_all=True, append_images=frames[1:], duration=40,
                 loop=0, optimize=True)
