"""What a run folder says about its run, without TensorFlow."""
import enum
import fcntl
import json
import pathlib
import re
from typing import Any, Dict, NamedTuple, Optional

from drvf_tf.runs import run_folder
from drvf_tf.sweep import cells

_TAIL = 65_536  # bytes; more than any row of evaluations.jsonl


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
      checkpoint, where it goes on.
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
  summary = _json(run_dir / 'run.json').get('summary')
  num_steps = _num_steps(run_dir)
  if summary is not None:
    score = summary.get('final_score', summary.get('last_evaluations_score'))
    return State(Phase.FINISHED, num_steps or 0, num_steps, score)
  score = _last_score(run_dir)
  saved = max((int(path.name.split('_')[1]) for path
               in run_dir.glob('checkpoints/step_*')), default=0)
  if is_locked(run_dir) if running is None else running:
    return State(Phase.RUNNING, max(saved, logged_step(run_dir)), num_steps,
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
  facts = _json(cell.run_dir / 'run.json')
  return (facts.get('summary') is not None
          and tuple(facts.get('command', ())[1:]) == cell.arguments)


def is_locked(run_dir: pathlib.Path) -> bool:
  """Whether a process is at work in a run folder."""
  try:
    with open(run_dir / '.lock', encoding='utf-8') as lock:
      fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
  except BlockingIOError:
    return True
  except OSError:  # there is no such file
    return False
  return False


def logged_step(run_dir: pathlib.Path) -> int:
  """The step of the last row of metrics.csv."""
  step = _last_line(run_dir / 'metrics.csv').split(',')[0]
  return int(step) if step.isdigit() else 0


def read_record(run_dir: pathlib.Path) -> Dict[str, Any]:
  """What a sweep noted of its last attempt at a run; empty before that."""
  return _json(_record(run_dir))


def write_record(run_dir: pathlib.Path, record: Dict[str, Any]) -> None:
  """Notes an attempt."""
  run_folder.write_atomically(
      _record(run_dir), json.dumps(record, indent=2) + '\n')


def drop_record(run_dir: pathlib.Path) -> None:
  """Forgets the last attempt: another is going to be made."""
  _record(run_dir).unlink(missing_ok=True)


def _record(run_dir: pathlib.Path) -> pathlib.Path:
  return run_dir / 'sweep.json'


def _json(path: pathlib.Path) -> Dict[str, Any]:
  try:
    return json.loads(path.read_text(encoding='utf-8'))
  except (OSError, ValueError):
    return {}


def _num_steps(run_dir: pathlib.Path) -> Optional[int]:
  try:
    text = (run_dir / 'config.gin').read_text(encoding='utf-8')
  except OSError:
    return None
  found = re.search(r'^train_eval\.num_steps = (\d+)$', text, re.MULTILINE)
  return int(found.group(1)) if found else None


def _last_score(run_dir: pathlib.Path) -> Optional[float]:
  line = _last_line(run_dir / 'evaluations.jsonl')
  try:
    return json.loads(line)['score']
  except (ValueError, KeyError):
    return None


def _last_line(path: pathlib.Path) -> str:
  """The last line that ends; empty where there is none."""
  try:
    with open(path, 'rb') as file:
      size = file.seek(0, 2)
      file.seek(max(0, size - _TAIL))
      lines = file.read().decode('utf-8', 'replace').split('\n')
  except OSError:
    return ''
  return lines[-2] if len(lines) > 1 else ''
