"""Commands of README.md and docs/: their flags, files and bindings exist."""
import pathlib
import re
import shlex

import gin
import pytest

from drvf_tf import project_files
from drvf_tf.runs import configuration

ROOT = pathlib.Path(__file__).parents[1]
PAGES = (ROOT / 'README.md', ROOT / 'CHANGELOG.md',
         *sorted((ROOT / 'docs').glob('*.md')))
_LAUNCH = r'(?:launch/(\w+)\.py|drvf (\w+))(?= |$)'
_FILE = r'(?<![\w./<])[\w.][\w./]*/[\w./]*\.(?:gin|py|sh|md|png|gif|npz)\b'


def _code(page):
  """Lines of code: of fenced blocks, and whatever stands in backticks."""
  text = page.read_text('utf-8')
  for block in re.findall(r'^```\w*\n(.*?)^```', text, flags=re.M | re.S):
    yield from block.replace('\\\n', ' ').splitlines()
  text = re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)
  for span in re.findall(r'`([^`]+)`', text):
    yield ' '.join(span.split())


def _flags(command):
  source = project_files.launcher(command).read_text('utf-8')
  return set(re.findall(r"DEFINE_\w+\(\s*'(\w+)'", source)) | {'help'}


ALL_FLAGS = set().union(*map(_flags, project_files.commands()))
# Of programs that are not ours.
ALL_FLAGS |= {'version', 'list', 'runs', 'strict'}


def wrong(page):
  """What a page's code names and the project does not have."""
  found = []
  for line in _code(page):
    called = re.search(_LAUNCH, line)
    command = called and (called[1] or called[2])
    if command and command not in project_files.commands():
      found.append(f'no command {command}')
      continue
    for flag in re.findall(r'(?<![\w-])--(\w+)', line):
      known = _flags(command) if command else ALL_FLAGS
      if flag.removeprefix('no') not in known and flag not in known:
        found.append(f'no flag --{flag} of {command}')
    for file in re.findall(_FILE, line):
      if not _exists(file):
        found.append(f'no file {file}')
  return found


def _exists(file):
  return any((folder / file).exists()
             for folder in (ROOT, ROOT / 'drvf_tf', ROOT / 'docs'))


def _bindings(page):
  """Bindings of a page's commands, without those that it leaves open."""
  for line in _code(page):
    for text in re.findall(r'--gin_param=("[^"]*"|\S+)', line):
      [binding] = shlex.split(text.rstrip(']'))
      if '<' not in binding:
        yield binding


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_what_code_names_exists(page):
  assert not wrong(page)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_gin_takes_every_binding(page):
  configuration.parse(['gin/hopper_medium.gin'], list(_bindings(page)))
  gin.clear_config()


def test_what_does_not_exist_is_found(tmp_path):
  page = tmp_path / 'page.md'
  page.write_text(
      'Say `python launch/train.py --gin_flie=gin/cpu.gin\n--seed=1`, then\n'
      '```\ndrvf exprot --run=runs\ndrvf export \\\n  --output=x\n```\n'
      'and read `gin/gone.gin` with `--lists`.')
  assert wrong(page) == [
      'no command exprot', 'no flag --output of export',
      'no flag --gin_flie of train', 'no file gin/gone.gin',
      'no flag --lists of None']
