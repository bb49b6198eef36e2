"""One attempt at a run: its command as a process, watched until it ends."""
import enum
import os
import pathlib
import platform
import shlex
import signal
import subprocess
import sys
import time
from typing import NamedTuple

from drvf_tf.runs import run_reader
from drvf_tf.sweep import die_with_parent, states

_POLL = 0.2  # seconds
_REFUSED = 2  # exit code of a errors.UserError


class Job(NamedTuple):
  """What a worker needs to know of a run.

  Attributes:
    command: To run.
    run_dir: Its folder; the output goes to train.log there.
    stop: A file; where it exists, runs stop softly.
    working_directory: Of the command.
    environment: Variables on top of the worker's own.
  """
  command: tuple[str, ...]
  run_dir: pathlib.Path
  stop: pathlib.Path
  working_directory: str
  environment: dict[str, str]


class Ending(enum.Enum):
  """How an attempt ended."""
  FINISHED = 'finished'
  STOPPED = 'stopped'  # as asked
  REFUSED = 'refused'  # the user has to mend something
  CRASHED = 'crashed'  # another attempt resumes from the last checkpoint


class Outcome(NamedTuple):
  """How an attempt ended, and what it said."""
  ending: Ending
  note: str = ''


def run(job: Job, patience: float = 300.0) -> Outcome:
  """Runs the command of a job to its end, or until the stop file appears.

  Args:
    job: What to run.
    patience: Seconds to wait for another process in the run folder: the one
      before this may still be saving after its worker died.

  Returns:
    How it ended.
  """
  until = time.monotonic() + patience
  folder = run_reader.RunReader(job.run_dir)
  while folder.is_locked() and not job.stop.exists():
    if time.monotonic() > until:
      return Outcome(Ending.REFUSED, (
          f'Another process is training in {job.run_dir}: wait for it or end '
          'it, then start the sweep again.'))
    time.sleep(_POLL)
  if job.stop.exists():
    return Outcome(Ending.STOPPED)
  try:
    job.run_dir.mkdir(parents=True, exist_ok=True)
    record = {'started': time.time(), 'host': platform.node()}
    states.write_record(job.run_dir, record)
    with open(folder.log_file, 'ab') as log:
      log.write(f'$ {shlex.join(job.command)}\n'.encode())
      log.flush()
      start = log.tell()
      code, asked = _watch(job, log.fileno())
    states.write_record(job.run_dir, {**record, 'ended': time.time()})
    with open(folder.log_file, 'rb') as log:
      log.seek(start)
      said = log.read().decode('utf-8', 'replace')
  except OSError as error:
    return Outcome(Ending.REFUSED, (
        f'{job.run_dir} could not be used ({error}): make room or choose '
        'another --out.'))
  return _outcome(code, asked, said)


def _watch(job: Job, log: int) -> tuple[int, bool]:
  """(exit code, whether it was asked to stop)."""
  process = subprocess.Popen(
      [sys.executable, '-I', die_with_parent.__file__, str(os.getpid()),
       *job.command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
      cwd=job.working_directory, env={**os.environ, **job.environment},
      start_new_session=True)  # Ctrl-C is for the sweep, not for each run
  asked = False
  try:
    while process.poll() is None:
      if not asked and job.stop.exists():
        process.terminate()
        asked = True
      time.sleep(_POLL)
  finally:
    if process.poll() is None:  # this worker is being ended
      process.terminate()
      process.wait()
  return process.returncode, asked


def _outcome(code: int, asked: bool, said: str) -> Outcome:
  lines = [line.strip() for line in said.replace('\r', '\n').split('\n')
           if line.strip()]
  if code == 0:
    return Outcome(Ending.FINISHED)
  if code == _REFUSED:
    first = max((i for i, line in enumerate(lines)
                 if line.startswith('error: ')), default=len(lines) - 1)
    sentence = '\n'.join(lines[max(first, 0):])
    return Outcome(Ending.REFUSED, sentence[len('error: '):]
                   if sentence.startswith('error: ') else sentence)
  if asked:
    return Outcome(Ending.STOPPED)
  if code < 0:
    return Outcome(Ending.CRASHED, f'killed by {signal.Signals(-code).name}')
  last = lines[-1] if lines else 'it said nothing'
  return Outcome(Ending.CRASHED, f'exit code {code}: {last}')
