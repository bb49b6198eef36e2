"""The rooms of the project, and the one direction in which they import."""
import ast
import pathlib

import pytest

_ROOT = pathlib.Path(__file__).parents[1] / 'drvf_tf'
# A package may import those of lines above its own, and its own; packages of
# one line do not know each other. Modules at the top are for all.
_ORDER = (
    ('project_files',),
    ('errors', 'versions', 'figures', 'specs'),
    ('envs',),
    ('data', 'networks'),
    ('losses',),
    ('agents',),
    ('policies',),
    ('runs',),
    ('dynamics',),
    ('ope',),
    ('train',),
    ('finetune', 'sweep', 'report', 'benchmark', 'uncertainty', 'demo'),
    ('cli',),
)
_LEVEL = {name: level for level, names in enumerate(_ORDER) for name in names}


def _imports(path):
  """(line, package) of everything of the project that a module imports."""
  for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
    if isinstance(node, ast.ImportFrom) and node.module:
      if node.module == 'drvf_tf':
        yield from ((node.lineno, alias.name) for alias in node.names)
      elif node.module.startswith('drvf_tf.'):
        yield node.lineno, node.module.split('.')[1]
    elif isinstance(node, ast.Import):
      for alias in node.names:
        if alias.name.startswith('drvf_tf.'):
          yield node.lineno, alias.name.split('.')[1]


def wrong_imports(package, path):
  """The imports of a module that go against the direction."""
  return [f'{path.name}:{line} imports {other}'
          for line, other in _imports(path)
          if other != package and _LEVEL[other] >= _LEVEL[package]]


@pytest.mark.parametrize('package', sorted(_LEVEL))
def test_imports_go_one_way(package):
  paths = [*(_ROOT / package).rglob('*.py'), _ROOT / f'{package}.py']
  wrong = [line for path in paths if path.exists()
           for line in wrong_imports(package, path)]
  assert not wrong


def test_every_room_has_its_place():
  rooms = {path.stem for path in _ROOT.iterdir()
           if path.suffix == '.py' or (path / '__init__.py').exists()}
  assert rooms - {'__init__'} == set(_LEVEL)


def test_an_import_that_is_turned_round_is_found(tmp_path):
  path = tmp_path / 'module.py'
  path.write_text('def f():\n  from drvf_tf.train import guard\n  return guard')
  assert wrong_imports('losses', path) == ['module.py:2 imports train']
  assert not wrong_imports('sweep', path)
