"""Evaluation of the greedy policy while training goes on."""
from typing import Any, Optional, Protocol

import gin
import numpy as np

from drvf_tf.policies import numpy_actor, policy_snapshot
from drvf_tf.train import rollouts, tasks

Row = dict[str, Any]


class Evaluator(Protocol):
  """What the loop asks of an evaluation; see `Evaluation`."""

  @property
  def interval(self) -> int:
    """Train steps between evaluations."""

  @property
  def pending_step(self) -> Optional[int]:
    """The step whose evaluation is under way."""

  def start(self, step: int) -> None:
    """Starts the evaluation of the policy as it is now."""

  def suspend(self) -> Optional[dict[str, Any]]:
    """What `resume` needs to start the evaluation under way again."""

  def resume(self, state: dict[str, Any]) -> None:
    """Starts an evaluation again that was under way."""

  def ready(self) -> bool:
    """Whether `collect` has something and would not wait."""

  def collect(self) -> Row:
    """Waits for the evaluation under way and gives its row."""

  def final(self, step: int) -> Row:
    """Runs the evaluation after the last step and gives its row."""

  def close(self) -> None:
    """Ends what it started."""


@gin.configurable
class Evaluation:
  """Runs episodes at fixed steps; what it finds depends on no timing."""

  def __init__(self,
               task: tasks.Task,
               policy: policy_snapshot.Policy,
               seed: int,
               interval: int = 1_000,
               num_episodes: int = 1,
               final_episodes: int = 100,
               num_workers: Optional[int] = None):
    """Starts the worker processes.

    Args:
      task: See `tasks`.
      policy: What to evaluate.
      seed: Of the episodes, together with the step and their number.
      interval: Train steps between evaluations.
      num_episodes: Episodes of one evaluation.
      final_episodes: Episodes of the evaluation after the last step.
      num_workers: Processes; one for each core by default.
    """
    if interval < 1 or num_episodes < 1 or final_episodes < 1:
      raise ValueError(
          'interval, num_episodes and final_episodes of Evaluation must be at '
          f'least 1, not {interval}, {num_episodes} and {final_episodes}.')
    self._task, self._policy, self._seed = task, policy, seed
    self._interval, self._num_episodes = interval, num_episodes
    self._final_episodes = final_episodes
    self._rollouts = rollouts.Rollouts(task, num_workers)
    self._step: Optional[int] = None
    self._actor: Optional[numpy_actor.NumpyActor] = None
    self._done: Optional[list] = None

  @property
  def interval(self) -> int:
    """Train steps between evaluations."""
    return self._interval

  @property
  def pending_step(self) -> Optional[int]:
    """The step whose evaluation is under way."""
    return self._step

  def start(self, step: int) -> None:
    """Starts the evaluation of the policy as it is now."""
    self._start(step, self._policy.snapshot())

  def suspend(self) -> Optional[dict[str, Any]]:
    """What `resume` needs to start the evaluation under way again."""
    if self._step is None or self._actor is None:
      return None
    return {'step': self._step, 'actor': self._actor.to_json()}

  def resume(self, state: dict[str, Any]) -> None:
    """Starts an evaluation again that was under way."""
    self._start(state['step'],
                numpy_actor.NumpyActor.from_json(state['actor']))

  def _start(self, step: int,
             actor: Optional[numpy_actor.NumpyActor]) -> None:
    assert self._step is None, 'collect the last evaluation first'
    self._step, self._actor = step, actor
    seeds = episode_seeds(self._seed, step, self._num_episodes)
    if actor is None:
      self._done = self._rollouts.run(self._policy.act, seeds)
    else:
      self._rollouts.start(actor, seeds)

  def ready(self) -> bool:
    """Whether `collect` has something and would not wait."""
    return self._step is not None and (
        self._done is not None or self._rollouts.ready())

  def collect(self) -> Row:
    """Waits for the evaluation under way and gives its row."""
    assert self._step is not None
    episodes = (self._rollouts.collect() if self._done is None
                else self._done)
    step, self._step = self._step, None
    self._actor = self._done = None
    return self._row(step, episodes, final=False)

  def final(self, step: int) -> Row:
    """Runs the evaluation after the last step and gives its row."""
    seeds = episode_seeds(self._seed, step, self._final_episodes, stream=1)
    actor = self._policy.snapshot()
    if actor is None:
      return self._row(
          step, self._rollouts.run(self._policy.act, seeds), final=True)
    self._rollouts.start(actor, seeds)
    return self._row(step, self._rollouts.collect(), final=True)

  def close(self) -> None:
    """Ends the worker processes."""
    self._rollouts.close()

  def _row(self, step: int, episodes: list, final: bool) -> Row:
    returns = [episode.episode_return for episode in episodes]
    return {
        'step': step,
        'final': final,
        'score': float(np.mean(self._task.score(returns))),
        'mean_return': float(np.mean(returns)),
        'returns': returns,
        'lengths': [episode.length for episode in episodes],
    }


def episode_seeds(seed: int, step: int, count: int,
                  stream: int = 0) -> list[int]:
  """Seeds of the episodes of an evaluation: no two alike, none by timing."""
  return [int(np.random.SeedSequence([seed, stream, step, i])
              .generate_state(1)[0]) for i in range(count)]
