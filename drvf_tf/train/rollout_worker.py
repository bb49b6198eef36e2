"""A process that runs episodes for `rollouts.Rollouts`.

Reads pickled messages from standard input and answers on standard output. It
is a module of its own, so that neither TensorFlow nor the user's main script
is imported a second time.

The first message is the task; each later one is (act, seeds). `act` None means
that the parent holds the policy: observations are sent to it, and actions come
back. The answer to (act, seeds) is ('episodes', [...]) or ('error', sentence).
"""
import os
import pickle
import signal
import sys
from typing import Any, BinaryIO

from drvf_tf import errors


def serve(source: BinaryIO, sink: BinaryIO) -> None:
  """Runs episodes until the parent closes the pipe."""

  def send(message: Any) -> None:
    pickle.dump(message, sink, pickle.HIGHEST_PROTOCOL)
    sink.flush()

  def ask_parent(observation):
    send(('observation', observation))
    return pickle.load(source)

  task = pickle.load(source)
  while True:
    act, seeds = pickle.load(source)
    try:
      send(('episodes',
            [task.episode(act or ask_parent, seed) for seed in seeds]))
    except errors.UserError as error:
      send(('error', str(error)))


if __name__ == '__main__':
  # Ctrl-C reaches the whole process group; the parent decides what it means.
  signal.signal(signal.SIGINT, signal.SIG_IGN)
  answers = sys.stdout.buffer
  sys.stdout = sys.stderr  # whatever prints must not break the protocol
  try:
    serve(sys.stdin.buffer, answers)
  except (EOFError, BrokenPipeError):  # the parent is gone, or has closed us
    os._exit(0)  # nobody would read what a flush at exit writes
