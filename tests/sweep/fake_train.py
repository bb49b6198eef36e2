"""Stands in for launch/train.py: takes the folder's lock, and does as told.

fake_train.py --do=<what> --run_dir=<folder>
"""
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from drvf_tf import errors  # noqa: E402
from drvf_tf.runs import run_folder  # noqa: E402


def finish(home, starts):
  home.describe('train_eval.num_steps = 40\n', {'step': starts})
  home.finish({'final_score': 7.25})


def crash_once(home, starts):
  if starts == 1:
    os.kill(os.getpid(), signal.SIGKILL)
  finish(home, starts)


def crash(home, starts):
  del home, starts
  raise RuntimeError('no luck')


def refuse(home, starts):
  del home, starts
  raise errors.UserError('This cannot be used: mend it.\n-a\n+b')


def wait(home, starts):
  """Waits for SIGTERM, at most so long that a test fails."""
  del starts

  def stop(*unused):
    (home.path / 'saved').write_text('')
    sys.exit(143)

  signal.signal(signal.SIGTERM, stop)
  (home.path / 'ready').write_text('')
  time.sleep(60)


def main(argv):
  del argv
  do, run_dir = (argument.partition('=')[2] for argument in sys.argv[1:])
  with run_folder.RunFolder(pathlib.Path(run_dir)) as home:
    file = home.path / 'starts.json'
    starts = 1 + (json.loads(file.read_text()) if file.exists() else 0)
    file.write_text(json.dumps(starts))
    globals()[do](home, starts)


if __name__ == '__main__':
  sys.argv, flags = sys.argv[:1], sys.argv[1:]  # absl knows none of ours

  def with_flags(argv):
    sys.argv += flags
    main(argv)

  errors.run(with_flags)
