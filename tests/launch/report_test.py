"""launch/report.py as a user runs it."""
import os
import subprocess
import sys

from tests.report import made_up_runs
from tests.train import tiny_run

_REPORT = str(tiny_run.ROOT / 'launch' / 'report.py')


def _run(*arguments):
  return subprocess.run([sys.executable, _REPORT, *arguments], text=True,
                        capture_output=True, check=False, env=dict(os.environ))


def test_the_last_line_says_where_the_report_is(tmp_path):
  made_up_runs.write(tmp_path / 'run', 0, [[1.0]], [2.0])
  shown = _run(f'--run={tmp_path}', f'{tmp_path}/nowhere',
               f'--out={tmp_path}/out')
  assert shown.returncode == 0, shown.stderr
  assert shown.stderr == ''
  left_out, last = shown.stdout.splitlines()
  assert left_out == f'left out: {tmp_path}/nowhere: there is no such folder'
  assert last.startswith(f'The report is {tmp_path}/out/index.html')
  assert (tmp_path / 'out' / 'index.html').is_file()


def test_no_argument_is_an_error_of_one_sentence():
  shown = _run()
  assert shown.returncode == 2
  assert shown.stderr.startswith('error: Report what? Name run folders')
