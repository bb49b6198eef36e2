"""The list of tasks and methods."""
from drvf_tf.runs import catalogue


def test_every_method_says_what_it_is():
  known = catalogue.methods()
  names = [method.name for method in known]
  assert len(set(names)) == len(names)
  assert {'DRVF', 'SAC-N', 'EDAC', 'PBRL', 'PBRL-Prior', 'PBRL + repulsion',
          'MSG', 'MOPO', 'COMBO', 'DRVF + model', 'Dropout ensemble',
          'Dropout + diversity', 'Dropout + repulsion', 'LB-SAC', 'BC',
          '10 % BC', 'CQL', 'TD3+BC', 'IQL', 'ReBRAC', 'ATAC',
          'UWAC'} == set(names)
  for method in known:
    assert len(method.what) > 20 and method.what.endswith('.'), method


def test_tasks_by_the_names_that_choose_them():
  lines = catalogue.task_table().splitlines()
  assert 'hopper-medium-v2              gin/hopper_medium.gin' in lines
  assert 'quickstart (maze2d-umaze-v1)  gin/quickstart.gin' in lines


def test_a_first_sentence():
  text = '# A method (paper, App. E; Some et al., 2021): one.\n# Two.\nx = 1\n'
  assert catalogue._first_sentence(text) == (
      'A method (paper, App. E; Some et al., 2021): one.')


def test_sizes_where_they_are_given():
  sizes = {method.name: 1_000 for method in catalogue.methods()}
  assert 'parameters' not in catalogue.method_table()
  shown = catalogue.method_table(sizes)
  assert 'EDAC                          1,000  gin/baselines/edac.gin' in shown
