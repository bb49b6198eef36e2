"""The command `drvf`, as a user types it, from a folder that is not ours."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

import drvf_tf
from drvf_tf import project_files

_ROOT = pathlib.Path(__file__).parents[1]
_COMMANDS = ['benchmark', 'collect', 'convert', 'dataset', 'demo', 'dynamics',
             'evaluate', 'export', 'finetune', 'report', 'sweep', 'train',
             'uncertainty']


def _drvf(folder, *words, program=('-m', 'drvf_tf.cli')):
  return subprocess.run(
      [sys.executable, *program, *words], text=True, capture_output=True,
      check=False, cwd=folder, env={**os.environ, 'PYTHONPATH': str(_ROOT)})


@pytest.mark.parametrize('word, shown', [
    ('--help', 'usage: drvf <command>'),
    ('--version', f'drvf_tf {drvf_tf.__version__}')])
def test_help_and_version_do_without_tensorflow(tmp_path, word, shown):
  program = ('-c', 'import sys\nfrom drvf_tf import cli\ncli.main()\n'
             'assert "tensorflow" not in sys.modules')
  result = _drvf(tmp_path, word, program=program)
  assert result.returncode == 0, result.stderr
  assert shown in result.stdout
  if word == '--help':
    assert re.findall(r'^  (\w+) +\w', result.stdout, re.M) == _COMMANDS


def test_a_typo_says_what_there_is(tmp_path):
  result = _drvf(tmp_path, 'trian')
  assert result.returncode == 2
  assert result.stderr.splitlines() == [
      "error: drvf has no command 'trian' (did you mean train?): there are "
      f'{", ".join(_COMMANDS)}.']


# The others take seconds more, for the imports before their flags.
@pytest.mark.parametrize('command', sorted(set(_COMMANDS) - {'benchmark'}))
def test_a_command_lists_its_flags(tmp_path, command):
  result = _drvf(tmp_path, command, '--help')
  assert f'drvf {command} ' in result.stdout, result.stderr
  text = project_files.launcher(command).read_text(encoding='utf-8')
  names = re.findall(r"DEFINE_\w+\(\s*'(\w+)'", text)
  assert names
  for name in names:
    assert re.search(rf'^ *--(\[no\])?{name}\b', result.stdout, re.M), name


def test_one_name_for_one_thing():
  names = {command: re.findall(
      r"DEFINE_\w+\(\s*'(\w+)'",
      project_files.launcher(command).read_text(encoding='utf-8'))
           for command in _COMMANDS}
  for command, found in names.items():
    odd = {'output', 'output_dir', 'out_dir', 'runs', 'steps', 'run_dir'}
    # Only train's old name of --run is kept.
    assert odd & set(found) == ({'run_dir'} if command == 'train' else set())
  for command in ('train', 'dynamics', 'evaluate', 'export', 'report',
                  'uncertainty'):
    assert 'run' in names[command]


def test_an_error_of_a_command_is_its_sentence(tmp_path):
  result = _drvf(tmp_path, 'train', '--task=hoper-medium-v2')
  assert result.returncode == 2
  assert result.stderr.startswith('error: There is no gin file for a task')
  assert len(result.stderr.splitlines()) == 1


def test_commands_are_shown_as_they_can_be_typed(monkeypatch):
  text = '`python launch/dataset.py --x` after launch/export.py'
  assert project_files.as_typed(text) == text
  command = ['/a b/python3.11', '/a b/launch/train.py', '--gin_param=A.b="c d"']
  assert shlex.split(project_files.command_line(command)) == command
  monkeypatch.setattr(project_files, 'typed_drvf', True)
  assert project_files.as_typed(text) == '`drvf dataset --x` after drvf export'
  assert project_files.command_line(command) == (
      "drvf train '--gin_param=A.b=\"c d\"'")
