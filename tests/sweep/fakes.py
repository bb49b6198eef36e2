"""Cells with a fast command, and a pool of threads instead of Ray."""
import concurrent.futures
import pathlib
import sys

from drvf_tf.sweep import attempt, cells, runner

FAKE_TRAIN = pathlib.Path(__file__).with_name('fake_train.py')


def cell(out, do, seed=0):
  run_dir = out / 'task' / do / f'seed{seed}'
  return cells.Cell('task', do, seed, run_dir, (
      sys.executable, str(FAKE_TRAIN), f'--do={do}', f'--run_dir={run_dir}'))


def job(some_cell, out):
  return attempt.Job(some_cell.command, some_cell.run_dir, out / '.sweep.stop',
                     str(out), {})


def surroundings(out):
  return runner.Surroundings(out / '.sweep.stop', str(out), {})


class ThreadPool:
  """Two attempts at a time."""

  def __init__(self):
    self._threads = concurrent.futures.ThreadPoolExecutor(2)
    self._keys = {}

  def submit(self, key, some_job):
    self._keys[self._threads.submit(attempt.run, some_job)] = key

  def wait(self, seconds):
    done, _ = concurrent.futures.wait(
        self._keys, seconds, concurrent.futures.FIRST_COMPLETED)
    return [(self._keys.pop(future), future.result()) for future in done]


class Screen:
  """Remembers what it was told."""

  def __init__(self):
    self.said = []

  def say(self, text):
    self.said.append(text)

  def refresh(self):
    pass
