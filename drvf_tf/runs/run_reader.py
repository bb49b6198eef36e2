"""The one reader of a run folder: its paths, facts, settings and records.

Without TensorFlow, for sweeps and reports; `restoring` gives the agent too.
"""
import fcntl
import json
import pathlib
from typing import Any, Optional

from drvf_tf import errors
from drvf_tf.runs import checkpoint_files, settings

FACTS = 'run.json'
_TAIL = 65_536  # bytes; more than any row of evaluations.jsonl


class NotARun(errors.UserError):
  """A folder that holds no run.

  Attributes:
    reason: In a few words.
  """

  def __init__(self, path: pathlib.Path, reason: str):
    super().__init__(f'{path} is no run folder ({reason}): give the folder '
                     'that launch/train.py wrote.')
    self.reason = reason


class RunReader:
  """Where everything is in a run folder, and what it says; writes nothing."""

  def __init__(self, path: pathlib.Path):
    """Reads nothing yet.

    Args:
      path: The folder; it need not exist.
    """
    self.path = path
    self.lock_file = path / '.lock'
    self.config_file = path / 'config.gin'
    self.facts_file = path / FACTS
    self.metrics_file = path / 'metrics.csv'
    self.evaluations_file = path / 'evaluations.jsonl'
    self.curve_file = path / 'curve.png'
    self.board_folder = path / 'tensorboard'
    self.checkpoints_folder = path / 'checkpoints'
    self.policy_folder = path / 'policy'
    self.dynamics_folder = path / 'dynamics'  # where a method has a model
    self.collected_file = path / 'collected.f32'  # rows of a fine-tuning
    self.sweep_file = path / 'sweep.json'  # what a sweep notes of the run
    self.log_file = path / 'train.log'  # what it said, in a sweep

  def read_facts(self) -> dict[str, Any]:
    """The content of run.json; `NotARun` where there is none."""
    try:
      facts = json.loads(self.facts_file.read_text(encoding='utf-8'))
    except (FileNotFoundError, NotADirectoryError) as error:
      raise NotARun(self.path, f'it has no {FACTS}') from error
    except (OSError, ValueError) as error:
      raise NotARun(
          self.path, f'its {FACTS} cannot be read: {error}') from error
    if not isinstance(facts, dict):
      raise NotARun(self.path, f'its {FACTS} is something else')
    return facts

  def known_facts(self) -> dict[str, Any]:
    """The content of run.json, empty before there is one."""
    try:
      return self.read_facts()
    except NotARun:
      return {}

  @property
  def summary(self) -> Optional[dict[str, Any]]:
    """The summary of a finished run, None before."""
    return self.known_facts().get('summary')

  def config(self) -> str:
    """The run's operative gin configuration; `NotARun` without one."""
    try:
      return self.config_file.read_text(encoding='utf-8')
    except OSError as error:
      raise NotARun(self.path, f'it has no {self.config_file.name}') from error

  def bindings(self) -> dict[str, str]:
    """The bindings of the configuration, each as it is written there."""
    return settings.read(self.config())

  def num_steps(self) -> Optional[int]:
    """Train steps of the whole run, where known."""
    try:
      return settings.number(self.bindings(), 'train_eval.num_steps')
    except NotARun:
      return None

  def metrics(self) -> dict[str, list[float]]:
    """The columns of metrics.csv."""
    header, *rows = whole_lines(self.metrics_file) or ['step']
    columns = zip(*(map(float, row.split(',')) for row in rows))
    return dict(zip(header.split(','), map(list, columns)))

  def evaluations(self) -> list[dict[str, Any]]:
    """The rows of evaluations.jsonl."""
    return [json.loads(line) for line in whole_lines(self.evaluations_file)]

  def logged_step(self) -> int:
    """The step of the last row of metrics.csv."""
    step = _last_line(self.metrics_file).split(',')[0]
    return int(step) if step.isdigit() else 0

  def last_score(self) -> Optional[float]:
    """The score of the last row of evaluations.jsonl."""
    try:
      return json.loads(_last_line(self.evaluations_file))['score']
    except (ValueError, KeyError):
      return None

  def saved_step(self) -> int:
    """The step of the last checkpoint, 0 where there is none."""
    return max(checkpoint_files.steps(self.checkpoints_folder), default=0)

  def checkpoint(self, name: str) -> pathlib.Path:
    """The folder of the checkpoint 'last', 'best' or of a step, checked."""
    return checkpoint_files.find(self.path, self.checkpoints_folder, name)

  def is_locked(self) -> bool:
    """Whether a process is at work in the folder."""
    try:
      with open(self.lock_file, encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
      return True
    except OSError:  # there is no such file
      return False
    return False


def whole_lines(path: pathlib.Path) -> list[str]:
  """Lines that end; a process that was killed may leave half a line."""
  if not path.exists():
    return []
  return path.read_text(encoding='utf-8').split('\n')[:-1]


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
