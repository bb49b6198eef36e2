"""The folder of a run: one process at a time, one configuration for ever.

But for what `MAY_CHANGE` lists: a run can be given more steps.
"""
import datetime
import difflib
import fcntl
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
from typing import IO, Any, Optional

from drvf_tf import errors, project_files, versions
from drvf_tf.runs import cost_record, run_reader

# What may differ when a run resumes: nothing here changes what is learned up
# to a step, nor what is recorded of it. Everything else must be the same.
MAY_CHANGE = (
    'train_eval.num_steps',  # to a larger number: a finished run is extended
    'train_eval.keep_checkpoints',
    'train_eval.keep_every',
    'Evaluation.final_episodes',
    'Evaluation.num_workers',
    'Guard.',
)
# Who reads train_eval.num_steps has a schedule that ends with the run: more
# steps would make it another run from its first step on.
_LENGTH_READER = '@steps_of_run'


class RunFolder(run_reader.RunReader):
  """A run folder that this process writes to: it holds the lock."""

  def __init__(self, path: pathlib.Path):
    """Creates the folder and takes its lock.

    Args:
      path: The folder; it need not exist.

    Raises:
      UserError: It cannot be written to, it holds something else than a run,
        or another process works in it.
    """
    super().__init__(path)
    self._refuse_foreign()
    self._lock = _lock(self.lock_file)
    self._started = time.monotonic()

  def agree(self, config: str, dataset_hash: str) -> None:
    """Refuses to resume with a configuration or data that are not the run's.

    Args:
      config: The operative configuration of this process.
      dataset_hash: Of the data of this process.
    """
    if not self.facts_file.exists():
      return
    lines = difference(self.config(), config)
    forbidden = [line for line in lines
                 if not line[1:].startswith(MAY_CHANGE)]
    if _LENGTH_READER in config:
      forbidden += [line for line in lines if line not in forbidden
                    and line[1:].startswith('train_eval.num_steps')]
    if forbidden:
      raise errors.UserError(
          f'{self.path} was made by another configuration: choose another '
          '--run, or go back to its own; the lines that differ (- of the '
          'folder, + of this command) are:\n' + '\n'.join(forbidden))
    if self.read_facts()['dataset_hash'] != dataset_hash:
      raise errors.UserError(
          f'{self.path} was made with data of another content: choose another '
          '--run, or bring back the file it was trained on.')

  def describe(self, config: str, facts: dict[str, Any]) -> None:
    """Writes config.gin and run.json, or adds this start to run.json."""
    self._started = time.monotonic()
    start = {'time': _now(), 'step': facts.pop('step')}
    if self.facts_file.exists():
      known = self.read_facts()
      known['starts'].append(start)
      known['command'] = sys.argv  # the first may have asked for fewer steps
      for name in ('summary', 'finished'):  # not any more, if it is extended
        known.pop(name, None)
      self._write_facts(known)
      write_atomically(self.config_file, config)
      return
    write_atomically(self.config_file, config)
    self._write_facts({**facts, **_surroundings(), 'starts': [start]})

  def spend(self, cost: dict[str, Any]) -> None:
    """Adds to run.json what this start cost, when its training ends.

    Args:
      cost: Of the training; see `cost.Meter`.
    """
    facts = self.read_facts()
    facts['cost'] = cost_record.add(facts.get('cost', {}), cost)
    facts['starts'][-1].update(steps=cost['steps'], seconds=self._seconds())
    self._write_facts(facts)

  def finish(self, summary: dict[str, Any]) -> None:
    """Adds the summary of a finished run to run.json, and its last seconds."""
    facts = {**self.read_facts(), 'finished': _now(), 'summary': summary}
    facts['starts'][-1]['seconds'] = self._seconds()
    self._write_facts(facts)

  def _write_facts(self, facts: dict[str, Any]) -> None:
    write_atomically(self.facts_file, json.dumps(facts, indent=2) + '\n')

  def _seconds(self) -> float:
    return round(time.monotonic() - self._started, 3)

  def _refuse_foreign(self) -> None:
    """Leaves a folder alone that holds what no run ever wrote."""
    if (self.facts_file.is_file() or self.lock_file.is_file()
        or not self.path.is_dir()):
      return
    own = {path.name for path in vars(self).values()
           if isinstance(path, pathlib.Path) and path.parent == self.path}
    # What is hidden is a file half written, or of the file system.
    foreign = [name for name in sorted(os.listdir(self.path))
               if name not in own and not name.startswith('.')]
    if foreign:
      raise errors.UserError(
          f'{self.path} holds no run, but something else ({foreign[0]}'
          f'{" and more" * (len(foreign) > 1)}): choose another --run, '
          'which need not exist.')

  def __enter__(self) -> 'RunFolder':
    return self

  def __exit__(self, *unused: Any) -> None:
    self._lock.close()


def difference(old: str, new: str) -> list[str]:
  """Lines of two configurations that differ, comments aside."""
  old_lines, new_lines = (
      [line for line in text.splitlines()
       if line.strip() and not line.startswith('#')] for text in (old, new))
  return [line for line in difflib.unified_diff(
      old_lines, new_lines, lineterm='', n=0)
          if line[0] in '+-' and line[:3] not in ('+++', '---')]


def write_atomically(path: pathlib.Path, text: str) -> None:
  """Writes a file whole or not at all."""
  temporary = path.with_name(f'.{path.name}.new')
  temporary.write_text(text, encoding='utf-8')
  os.replace(temporary, path)


def _lock(path: pathlib.Path) -> IO[str]:
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = open(path, 'a', encoding='utf-8')
  except OSError as error:
    raise errors.UserError(
        f'The run folder {path.parent} cannot be written to '
        f'({error.strerror}): choose another with --run.') from error
  try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except OSError as error:
    lock.close()
    raise errors.UserError(
        f'Another process is training in {path.parent}: wait for it, or choose '
        'another --run.') from error
  return lock


def _now() -> str:
  return datetime.datetime.now(datetime.timezone.utc).isoformat(
      timespec='seconds')


def _surroundings() -> dict[str, Any]:
  return {
      'command': sys.argv,
      'git_commit': _git_commit(),
      'python': platform.python_version(),
      'versions': versions.installed(),
      'machine': {'system': platform.platform(), 'cpu': platform.machine(),
                  'processor': _processor(), 'cores': os.cpu_count()},
  }


def _processor() -> Optional[str]:
  """The processor's name, where the system tells it."""
  try:
    lines = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
  except OSError:
    return platform.processor() or None
  names = re.findall(r'^model name\s*:\s*(.+)$', lines, re.M)
  return names[0] if names else None


def _git_commit() -> Optional[str]:
  """The commit of this source tree, with a + if it was changed since."""
  if not project_files.is_checkout():  # it may be inside another repository
    return None
  try:
    return subprocess.run(
        ['git', '-C', str(project_files.ROOT), 'describe', '--always',
         '--abbrev=40', '--dirty=+', '--exclude=*'],
        check=True, capture_output=True, text=True).stdout.strip()
  except (OSError, subprocess.CalledProcessError):
    return None
