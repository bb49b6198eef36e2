"""Which attempts are made: finished runs none, crashed ones another."""
import collections
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, Protocol

from drvf_tf.sweep import attempt, cells, states

_WAIT = 0.5  # seconds


class Pool(Protocol):
  """Makes attempts, as many at once as there is room for."""

  def submit(self, key: Any, job: attempt.Job) -> None:
    """Queues an attempt."""

  def wait(self, seconds: float) -> Sequence[tuple[Any, attempt.Outcome]]:
    """The attempts that have ended, after at most so many seconds."""


class Screen(Protocol):
  """Shows what happens."""

  def say(self, text: str) -> None:
    """Tells of an event."""

  def refresh(self) -> None:
    """Shows how far runs are; called twice a second."""


class Surroundings(NamedTuple):
  """What the runs of a sweep have in common; see `attempt.Job`."""
  stop: pathlib.Path
  working_directory: str
  environment: Mapping[str, str]


class Runner:
  """Makes attempts at cells until each has ended for good."""

  def __init__(self, pool: Pool, screen: Screen, surroundings: Surroundings,
               retries: int):
    """Creates it.

    Args:
      pool: Makes the attempts.
      screen: Told of every event.
      surroundings: Of every run.
      retries: Attempts at a run after its first has crashed.
    """
    self._pool, self._screen = pool, screen
    self._surroundings, self._retries = surroundings, retries
    self._attempts: Counter[cells.Cell] = collections.Counter()

  def run(self, todo: Sequence[cells.Cell],
          interrupted: Callable[[], bool]) -> dict[cells.Cell, attempt.Outcome]:
    """Runs cells to their ends.

    Args:
      todo: Cells that are not finished.
      interrupted: Whether to stop: the runs save and end, those that wait do
        not start.

    Returns:
      How each ended.
    """
    ended: dict[cells.Cell, attempt.Outcome] = {}
    stopping = False
    for cell in todo:
      self._submit(cell)
    while len(ended) < len(todo):
      for cell, outcome in self._pool.wait(_WAIT):
        if self._again(cell, outcome, stopping):
          self._submit(cell)
        else:
          ended[cell] = outcome
          self._conclude(cell, outcome)
      if interrupted() and not stopping:
        stopping = True
        self._surroundings.stop.touch()
        self._screen.say('Stopping: the runs save and end; once more to stop '
                         'at once.')
      self._screen.refresh()
    return ended

  def _submit(self, cell: cells.Cell) -> None:
    self._attempts[cell] += 1
    states.drop_record(cell.run_dir)
    self._pool.submit(cell, attempt.Job(
        cell.command, cell.run_dir, self._surroundings.stop,
        self._surroundings.working_directory,
        dict(self._surroundings.environment)))

  def _again(self, cell: cells.Cell, outcome: attempt.Outcome,
             stopping: bool) -> bool:
    """Whether a crashed run gets another attempt, and says so."""
    crashed = outcome.ending is attempt.Ending.CRASHED
    made, allowed = self._attempts[cell], self._retries + 1
    if not crashed or stopping or made >= allowed:
      return False
    self._screen.say(f'{cell.name}: {outcome.note}; attempt {made + 1} of '
                     f'{allowed} resumes from its last checkpoint.')
    return True

  def _conclude(self, cell: cells.Cell, outcome: attempt.Outcome) -> None:
    if outcome.ending is attempt.Ending.STOPPED:
      return
    if outcome.ending is attempt.Ending.FINISHED:
      self._screen.say(f'{cell.name}: finished.')
      return
    record = states.read_record(cell.run_dir)
    try:
      states.write_record(cell.run_dir, {**record, 'failed': outcome.note})
    except OSError:
      pass  # a folder that cannot be written to is what was refused
    self._screen.say(
        f'{cell.name}: failed: {outcome.note.splitlines()[0]}')


def failures(ended: Mapping[cells.Cell, attempt.Outcome]
             ) -> list[tuple[cells.Cell, str]]:
  """The cells that ended badly, and why."""
  bad = (attempt.Ending.REFUSED, attempt.Ending.CRASHED)
  return [(cell, outcome.note) for cell, outcome in ended.items()
          if outcome.ending in bad]
