"""From the command to the first train step: seconds, and memory."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from drvf_tf import errors, project_files


class StartUp(NamedTuple):
  """Of one command.

  Attributes:
    seconds: From the command to the end of the first train step.
    cpu_seconds: Of all its threads, in that time.
    memory: Resident bytes after that step.
    peak: The most there were until then.
  """
  seconds: float
  cpu_seconds: float
  memory: int
  peak: int


def measure(gin_files: Sequence[str], bindings: Sequence[str] = ()) -> StartUp:
  """Starts the training command, and stops it after its first step."""
  with tempfile.TemporaryDirectory() as folder:
    run_dir = pathlib.Path(folder) / 'run'
    start = time.monotonic()
    with subprocess.Popen(
        _command(gin_files, bindings, run_dir), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True) as child:
      try:
        while not _has_trained(run_dir):
          if child.poll() is not None:
            assert child.stderr is not None
            raise errors.UserError(
                f'The training stopped: {child.stderr.read()[-500:]}')
          time.sleep(0.02)
        return StartUp(time.monotonic() - start, _cpu_seconds(child.pid),
                       _kilobytes(child.pid, 'VmRSS') * 1024,
                       _kilobytes(child.pid, 'VmHWM') * 1024)
      finally:
        child.send_signal(signal.SIGKILL)


def _command(gin_files: Sequence[str], bindings: Sequence[str],
             run_dir: pathlib.Path) -> list[str]:
  one_by_one = ['train_eval.steps_per_call=1', 'train_eval.log_interval=1']
  return [sys.executable, str(project_files.launcher('train')),
          *(f'--gin_file={file}' for file in gin_files),
          *(f'--gin_param={binding}' for binding in (*bindings, *one_by_one)),
          f'--run={run_dir}']


def _has_trained(run_dir: pathlib.Path) -> bool:
  try:
    return (run_dir / 'metrics.csv').read_text().count('\n') > 1
  except FileNotFoundError:
    return False


def _kilobytes(pid: int, name: str) -> int:
  status = pathlib.Path(f'/proc/{pid}/status').read_text()
  found = re.search(rf'{name}:\s+(\d+) kB', status)
  assert found is not None
  return int(found.group(1))


def _cpu_seconds(pid: int) -> float:
  # Fields 14 and 15, counted from after the command's name in brackets.
  fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1]
  user, system = fields.split()[11:13]
  return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')
