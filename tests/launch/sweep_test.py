"""launch/sweep.py as a user runs it, as far as that goes without Ray."""
import pathlib
import re
import subprocess
import sys

_SWEEP = str(pathlib.Path(__file__).parents[2] / 'launch' / 'sweep.py')
# A Ray that cannot be found, whether it is installed or not.
_WITHOUT_RAY = """
import importlib.util, runpy, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == 'ray' else find(name)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
"""


def _run(*flags, cwd='/'):
  return subprocess.run([sys.executable, '-c', _WITHOUT_RAY, _SWEEP, *flags],
                        capture_output=True, text=True, check=False, cwd=cwd)


def _sentence(*flags):
  result = _run(*flags)
  assert result.returncode == 2, result.stderr
  lines = result.stderr.splitlines()
  assert len(lines) == 1 and lines[0].startswith('error: '), lines
  return lines[0]


def test_flags_that_make_no_sense_are_one_sentence(tmp_path):
  task, out = '--task=gin/quickstart.gin', f'--out={tmp_path}'
  assert 'is not a flag' in _sentence('sweeps/table1.gin')
  assert '--out=' in _sentence(task)
  assert 'Which tasks' in _sentence(out)
  assert 'no file gin/none.gin' in _sentence(out, '--task=gin/none.gin')
  assert 'whole numbers' in _sentence(out, task, '--seeds=0,x')
  assert 'did you mean edac' in _sentence(out, task, '--method=edca')
  assert 'did you mean hopper-medium-v2' in _sentence(
      out, '--task=hoper-medium-v2')
  assert 'new name' in _sentence(out, task, '--method=a=', '--method=a=')
  assert "pip install 'drvf_tf[sweep]'" in _sentence(out, task)
  assert not list(tmp_path.iterdir())


def test_dry_run_shows_states_and_commands(tmp_path):
  result = _run(
      '--task=gin/quickstart.gin', '--method=drvf=',
      '--method=near=gin/cpu.gin,gin/bc_actor.gin', '--seeds=0,1',
      '--gin_param=train_eval.num_steps=2000', f'--out={tmp_path}',
      '--dry_run')
  assert result.returncode == 0, result.stderr
  lines = result.stdout.splitlines()
  assert lines[-1] == '4 runs: 4 not started'
  assert lines[3].split()[:5] == ['quickstart', 'near', '0', 'not', 'started']
  assert lines[4].split()[2:5] == [
      '--gin_file=gin/quickstart.gin', '--gin_file=gin/cpu.gin',
      '--gin_file=gin/bc_actor.gin']
  assert lines[4].split()[-3:] == [
      '--gin_param=train_eval.num_steps=2000', '--gin_param=train_eval.seed=0',
      f'--run={tmp_path}/quickstart/near/seed0']


def test_tasks_and_methods_by_name(tmp_path):
  result = _run('--task=antmaze-umaze', '--task=hopper-medium-v2',
                '--method=drvf', '--method=iql', f'--out={tmp_path}',
                '--dry_run', cwd=tmp_path)
  assert result.returncode == 0, result.stderr
  files = [re.findall(r'--gin_file=(\S+)', line)
           for line in result.stdout.splitlines() if '--gin_file' in line]
  assert files == [
      ['gin/antmaze_umaze.gin'],
      ['gin/antmaze_umaze.gin', 'gin/baselines/iql_antmaze.gin'],
      ['gin/hopper_medium.gin'],
      ['gin/hopper_medium.gin', 'gin/baselines/iql.gin']]


def test_a_sweep_file_names_the_folder(tmp_path):
  result = _run('--sweep=sweeps/maze2d_smoke.gin', '--seeds=5', '--dry_run',
                cwd=tmp_path)
  assert result.returncode == 0, result.stderr
  assert f'--run={tmp_path}/runs/maze2d_smoke/quickstart/drvf/seed5' in (
      result.stdout)
