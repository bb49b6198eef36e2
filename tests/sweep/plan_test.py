"""Sweep files, flags over them, and what makes no sense."""
import pathlib

import pytest

from drvf_tf import errors
from drvf_tf.runs import gin_files
from drvf_tf.sweep import cells, plan

_ROOT = pathlib.Path(__file__).parents[2]
_BASELINES = ['sac_n', 'edac', 'pbrl', 'atac', 'uwac', 'td3_bc', 'rebrac',
              'iql', 'cql']


def _file(folder, text):
  path = folder / 'sweep.gin'
  path.write_text(text)
  return str(path)


def test_a_file_is_read(tmp_path):
  found = plan.read(_file(tmp_path, """
sweep.tasks = ('gin/quickstart.gin', 'gin/hopper_medium.gin')
sweep.methods = {'drvf': (), 'near': ('gin/bc_actor.gin',)}
sweep.seeds = (3, 4)
sweep.gin_files = ('gin/cpu.gin',)
sweep.bindings = ('a.b=1',)
"""))
  assert found == plan.Plan(
      ('gin/quickstart.gin', 'gin/hopper_medium.gin'),
      {'drvf': (), 'near': ('gin/bc_actor.gin',)}, (3, 4), ('gin/cpu.gin',),
      ('a.b=1',))


def test_flags_replace_the_file_and_add_to_what_runs_have_in_common(tmp_path):
  file = _file(tmp_path, """
sweep.tasks = ('gin/hopper_medium.gin',)
sweep.seeds = (3, 4)
sweep.bindings = ('a.b=1',)
""")
  found = plan.read(file, tasks=['gin/quickstart.gin'], methods=None,
                    seeds=None, gin_files=['gin/cpu.gin'], bindings=['a.b=2'])
  assert found == plan.Plan(
      ('gin/quickstart.gin',), {'drvf': ()}, (3, 4), ('gin/cpu.gin',),
      ('a.b=1', 'a.b=2'))


def test_a_file_of_the_project_has_one_name_from_everywhere(
    tmp_path, monkeypatch):
  names = {gin_files.known_file('gin/cpu.gin'),
           gin_files.known_file(str(_ROOT / 'gin/cpu.gin'))}
  monkeypatch.chdir(_ROOT / 'gin')
  names.add(gin_files.known_file('cpu.gin'))
  assert names == {'gin/cpu.gin'}
  monkeypatch.chdir(tmp_path)
  own = _file(tmp_path, '')
  assert gin_files.known_file('sweep.gin') == str(pathlib.Path(own).resolve())


@pytest.mark.parametrize('text, sentence', [
    ('', 'Which tasks'),
    ("sweep.tasks = ('gin/none.gin',)", 'no file gin/none.gin'),
    ("sweep.tasks = 'gin/cpu.gin'", 'sweep.tasks must be a tuple'),
    ("sweep.task = ('gin/cpu.gin',)", "parameter named 'task'"),
    ('no_such.name = 1', 'may hold nothing but'),
    ("sweep.tasks = ('gin/cpu.gin', 'gin/cpu.gin')", 'task cpu is there twice'),
    ("sweep.tasks = ('gin/cpu.gin',)\nsweep.seeds = (1, 1)",
     'seed 1 is there twice'),
    ("sweep.tasks = ('gin/cpu.gin',)\nsweep.methods = {'a/b': ()}",
     "'a/b' cannot name a method"),
    ("sweep.tasks = ('gin/cpu.gin',)\nsweep.methods = {'..': ()}",
     "'..' cannot name a method"),
    ("sweep.tasks = ('gin/cpu.gin',)\nsweep.methods = {'a': 'gin/cpu.gin'}",
     'must be a tuple of gin files'),
])
def test_what_makes_no_sense_is_one_sentence(tmp_path, text, sentence):
  with pytest.raises(errors.UserError) as error:
    plan.read(_file(tmp_path, text))
  assert sentence in str(error.value)
  assert 'In call to configurable' not in str(error.value)


@pytest.mark.parametrize('name, methods, count', [
    ('table1', ['drvf', *_BASELINES], 15 * 10 * 5),
    ('antmaze', ['drvf', 'iql', 'td3_bc', 'rebrac', 'bc', 'msg'], 4 * 6 * 5),
    ('maze2d_smoke', ['drvf', 'drvf_bc'], 4)])
def test_ready_sweeps(name, methods, count, tmp_path):
  found = plan.read(f'sweeps/{name}.gin')
  assert list(found.methods) == methods
  letter = () if name == 'maze2d_smoke' else ('gin/paper.gin',)
  assert found.methods['drvf'] == letter
  assert len(cells.product(found, tmp_path, 1)) == count


def test_table1_has_the_values_of_each_task(tmp_path):
  files = {(cell.task, cell.method): cell.arguments[1] for cell
           in cells.product(plan.read('sweeps/table1.gin'), tmp_path, 1)}
  folder = '--gin_file=gin/baselines'
  assert files['hopper_medium', 'edac'] == f'{folder}/edac/hopper_medium.gin'
  assert files['hopper_medium', 'pbrl'] == f'{folder}/pbrl.gin'
  assert files['hopper_expert', 'pbrl'] == f'{folder}/pbrl/hopper_expert.gin'
  assert files['walker2d_random', 'cql'] == f'{folder}/cql.gin'
  assert files['hopper_medium', 'rebrac'] == (
      f'{folder}/rebrac/hopper_medium.gin')
