"""Folders and commands of a product, written out by hand."""
import pathlib
import sys

from drvf_tf.sweep import cells, plan

_TRAIN = str(pathlib.Path(__file__).parents[2] / 'launch' / 'train.py')


def test_product_by_hand(tmp_path):
  found = cells.product(
      plan.Plan(('gin/a.gin', '/else/b.gin'),
                {'drvf': (), 'other': ('gin/x.gin', 'gin/y.gin')}, (0, 7),
                ('gin/cpu.gin',), ('m.n=(1, 2)',)), tmp_path, 3)
  assert [(cell.seed, cell.task, cell.method) for cell in found] == [
      (0, 'a', 'drvf'), (0, 'a', 'other'), (0, 'b', 'drvf'), (0, 'b', 'other'),
      (7, 'a', 'drvf'), (7, 'a', 'other'), (7, 'b', 'drvf'), (7, 'b', 'other')]
  last = found[-1]
  assert last.run_dir == tmp_path / 'b' / 'other' / 'seed7'
  assert last.name == 'b other seed 7'
  assert last.command == (
      sys.executable, _TRAIN,
      '--gin_file=/else/b.gin', '--gin_file=gin/x.gin',
      '--gin_file=gin/y.gin', '--gin_file=gin/cpu.gin',
      '--gin_param=configure_runtime.intra_op_threads=3',
      '--gin_param=configure_runtime.inter_op_threads=3',
      '--gin_param=Evaluation.num_workers=3',
      '--gin_param=m.n=(1, 2)', '--gin_param=train_eval.seed=7',
      f'--run={tmp_path}/b/other/seed7')
  assert last.arguments == last.command[2:]
  assert len({cell.run_dir for cell in found}) == 8


def test_a_method_has_its_own_values_for_a_task(tmp_path):
  general = tmp_path / 'edac.gin'
  own = tmp_path / 'edac' / 'hopper_medium.gin'
  own.parent.mkdir()
  for file in (general, own):
    file.write_text('')
  assert cells.for_task(str(general), 'hopper_medium') == str(own)
  assert cells.for_task(str(general), 'hopper_expert') == str(general)
  first, second = cells.product(
      plan.Plan(('gin/hopper_medium.gin', 'gin/hopper_expert.gin'),
                {'edac': (str(general),)}, (0,), (), ()), tmp_path, 1)
  assert first.arguments[1] == f'--gin_file={own}'
  assert second.arguments[1] == f'--gin_file={general}'


def test_a_method_may_be_bindings(tmp_path):
  cell, = cells.product(
      plan.Plan(('gin/a.gin',), {'n2': ('gin/x.gin', 'A.n=2')}, (0,), (),
                ('m.n=1',)), tmp_path, 1)
  assert cell.arguments[:2] == ('--gin_file=gin/a.gin', '--gin_file=gin/x.gin')
  assert cell.arguments[5:7] == ('--gin_param=A.n=2', '--gin_param=m.n=1')
