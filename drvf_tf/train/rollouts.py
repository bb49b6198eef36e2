"""Episodes in worker processes, in the background or with the parent's policy.

Which process runs an episode, and when, does not change it: an episode depends
on its own seed and on the policy alone.
"""
import os
import pickle
import select
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from drvf_tf import errors
from drvf_tf.policies import numpy_actor
from drvf_tf.train import tasks


class Rollouts:
  """A pool of processes that run seeded episodes of one task."""

  def __init__(self, task: tasks.Task, num_workers: Optional[int] = None):
    """Starts the processes; they get ready while the caller goes on.

    Args:
      task: See `tasks`; it must survive a pickle.
      num_workers: Processes; one for each core by default.
    """
    self._pending: list[list[int]] = []
    # One thread of linear algebra each: the products are small, and the cores
    # belong to training.
    env = {**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1',
           'MKL_NUM_THREADS': '1'}
    self._workers = [
        subprocess.Popen(
            [sys.executable, '-m', 'drvf_tf.train.rollout_worker'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        for _ in range(num_workers or os.cpu_count() or 1)]
    for worker in self._workers:
      _send(worker, task)

  def start(self, actor: numpy_actor.NumpyActor,
            seeds: Sequence[int]) -> None:
    """Starts one episode for each seed; `collect` waits for them."""
    assert not self._pending, 'collect the last episodes first'
    self._pending = self._shares(seeds)
    for worker, share in zip(self._workers, self._pending):
      if share:
        _send(worker, (actor, share))

  def ready(self) -> bool:
    """Whether `collect` would return at once."""
    busy = [worker.stdout for worker, share
            in zip(self._workers, self._pending) if share]
    return len(select.select(busy, [], [], 0)[0]) == len(busy)

  def collect(self) -> list[tasks.Episode]:
    """The episodes that `start` started, in the order of its seeds."""
    shares, self._pending = self._pending, []
    return _interleave([
        _expect('episodes', worker) if share else []
        for worker, share in zip(self._workers, shares)])

  def run(self, act: tasks.Act,
          seeds: Sequence[int]) -> list[tasks.Episode]:
    """Runs episodes with any policy, called here on whole batches.

    Args:
      act: Observations `[W, obs]` to actions `[W, act]`, W the number of
        workers: always the same, so that rows do not depend on which other
        episodes are still going on.
      seeds: One for each episode.

    Returns:
      The episodes, in the order of `seeds`.
    """
    shares = self._shares(seeds)
    episodes: list[list[tasks.Episode]] = [[] for _ in shares]
    active = [i for i, share in enumerate(shares) if share]
    for i in active:
      _send(self._workers[i], (None, shares[i]))
    observations: Optional[np.ndarray] = None
    while active:
      waiting = []
      for i in active:
        kind, content = _receive(self._workers[i])
        if kind == 'episodes':
          episodes[i] = content
          continue
        waiting.append(i)
        if observations is None:
          observations = np.zeros([len(shares), *content.shape], np.float32)
        observations[i] = content
      if waiting:
        assert observations is not None
        actions = np.asarray(act(observations))
        for i in waiting:
          _send(self._workers[i], actions[i])
      active = waiting
    return _interleave(episodes)

  def close(self) -> None:
    """Ends the processes."""
    workers, self._workers = self._workers, []
    for worker in workers:
      worker.terminate()
    for worker in workers:
      worker.wait()
      for pipe in (worker.stdin, worker.stdout):
        try:
          pipe.close()  # type: ignore[union-attr]
        except BrokenPipeError:
          pass

  def _shares(self, seeds: Sequence[int]) -> list[list[int]]:
    count = len(self._workers)
    return [list(seeds[i::count]) for i in range(count)]


def _interleave(shares: list[list[tasks.Episode]]) -> list[tasks.Episode]:
  total = sum(map(len, shares))
  return [shares[i % len(shares)][i // len(shares)] for i in range(total)]


def _send(worker: subprocess.Popen, message: Any) -> None:
  assert worker.stdin is not None
  try:
    pickle.dump(message, worker.stdin, pickle.HIGHEST_PROTOCOL)
    worker.stdin.flush()
  except BrokenPipeError as error:
    raise _died() from error


def _receive(worker: subprocess.Popen) -> Any:
  assert worker.stdout is not None
  try:
    kind, content = pickle.load(worker.stdout)
  except EOFError as error:
    raise _died() from error
  if kind == 'error':
    raise errors.UserError(content)
  return kind, content


def _expect(kind: str, worker: subprocess.Popen) -> Any:
  found, content = _receive(worker)
  assert found == kind, found
  return content


def _died() -> RuntimeError:
  return RuntimeError(
      'An evaluation process died; what it said is above. The run can resume '
      'from its last checkpoint.')
