"""A process that runs one task for `parallel.ParallelTasks`.

Reads pickled commands from standard input and answers on standard output. It
is started as a module of its own, so that neither TensorFlow nor the user's
main script is imported a second time.
"""
import pickle
import sys
from typing import Any, BinaryIO

import numpy as np

from drvf_tf import errors
from drvf_tf.envs import d4rl_tasks

FIRST, MID, LAST = 0, 1, 2
# (step type, reward, discount, observation)
Step = tuple[int, np.float32, np.float32, np.ndarray]


class _Episodes:
  """A task that starts its next episode by itself after the last step."""

  def __init__(self, name: str, seed: int):
    self.task = d4rl_tasks.Task(name, seed)
    self._last = True

  def reset(self) -> Step:
    self._last = False
    return FIRST, np.float32(0), np.float32(1), self.task.reset()

  def step(self, action: np.ndarray) -> Step:
    if self._last:
      return self.reset()
    outcome = self.task.step(action)
    self._last = outcome.terminal or outcome.timeout
    return (LAST if self._last else MID, outcome.reward,
            np.float32(not outcome.terminal), outcome.observation)

  def render(self, mode: str) -> Any:
    return self.task.render(mode)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
  """Answers (method, argument) with (True, result) or (False, sentence)."""
  name, seed = pickle.load(source)
  episodes = _Episodes(name, seed)
  while True:
    try:
      method, arguments = pickle.load(source)
    except EOFError:  # the parent is gone, or has closed us
      return
    try:
      answer: tuple[bool, Any] = (True, getattr(episodes, method)(*arguments))
    except errors.UserError as error:
      answer = (False, str(error))
    pickle.dump(answer, sink, pickle.HIGHEST_PROTOCOL)
    sink.flush()


if __name__ == '__main__':
  answers = sys.stdout.buffer
  sys.stdout = sys.stderr  # whatever prints must not break the protocol
  serve(sys.stdin.buffer, answers)
