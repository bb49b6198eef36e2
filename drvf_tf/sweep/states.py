"""What a run folder says about its run, without TensorFlow."""
import enum
import json
import pathlib
from typing import Any, NamedTuple, Optional

from drvf_tf.runs import run_folder, run_reader
from drvf_tf.sweep import cells


class Phase(enum.Enum):
  """Where a run is."""
  FINISHED = 'finished'
  RUNNING = 'running'
  FAILED = 'failed'
  STOPPED = 'stopped'
  NOT_STARTED = 'not started'


class State(NamedTuple):
  """A run at one moment.

  Attributes:
    phase: Where it is.
    step: Of the last row of metrics while it runs, else of the last
      checkpoint, where it resumes.
    num_steps: Of the whole run, where known.
    score: The last one; of the final episodes when finished.
    note: Why it failed.
  """
  phase: Phase
  step: int = 0
  num_steps: Optional[int] = None
  score: Optional[float] = None
  note: str = ''


def read(run_dir: pathlib.Path, running: Optional[bool] = None) -> State:
  """The state of a run from its folder.

  Args:
    run_dir: The folder; it need not exist.
    running: Whether a process is at work in it; None: ask its lock. Asking
      takes the lock for a moment, so who knows better should say so.
  """
  run = run_reader.RunReader(run_dir)
  summary, num_steps = run.summary, run.num_steps()
  if summary is not None:
    score = summary.get('final_score', summary.get('last_evaluations_score'))
    return State(Phase.FINISHED, num_steps or 0, num_steps, score)
  score, saved = run.last_score(), run.saved_step()
  if run.is_locked() if running is None else running:
    return State(Phase.RUNNING, max(saved, run.logged_step()), num_steps,
                 score)
  failure = read_record(run_dir).get('failed')
  if failure is not None:
    return State(Phase.FAILED, saved, num_steps, score, failure)
  if saved:
    return State(Phase.STOPPED, saved, num_steps, score)
  return State(Phase.NOT_STARTED, 0, num_steps)


def is_finished(cell: cells.Cell) -> bool:
  """Whether a cell's own command has finished in its folder.

  A run that another command finished is not taken for the cell's: its own
  command knows whether their configurations agree, and says so if not.
  """
  facts = run_reader.RunReader(cell.run_dir).known_facts()
  return (facts.get('summary') is not None
          and tuple(facts.get('command', ())[1:]) == cell.arguments)


def read_record(run_dir: pathlib.Path) -> dict[str, Any]:
  """What a sweep noted of its last attempt at a run; empty before that."""
  try:
    return json.loads(_record(run_dir).read_text(encoding='utf-8'))
  except (OSError, ValueError):
    return {}


def write_record(run_dir: pathlib.Path, record: dict[str, Any]) -> None:
  """Notes an attempt."""
  run_folder.write_atomically(
      _record(run_dir), json.dumps(record, indent=2) + '\n')


def drop_record(run_dir: pathlib.Path) -> None:
  """Forgets the last attempt: another is going to be made."""
  _record(run_dir).unlink(missing_ok=True)


def _record(run_dir: pathlib.Path) -> pathlib.Path:
  return run_reader.RunReader(run_dir).sweep_file
