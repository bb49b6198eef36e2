"""gin files by names of tasks and methods."""
import pytest

from drvf_tf import errors
from drvf_tf.envs import d4rl_tasks
from drvf_tf.runs import gin_files


@pytest.mark.parametrize('name, file', [
    ('hopper-medium-v2', 'hopper_medium'),
    ('hopper-medium', 'hopper_medium'),
    ('hopper_medium', 'hopper_medium'),
    ('gin/hopper_medium.gin', 'hopper_medium'),
    ('maze2d-umaze-v1', 'maze2d_umaze'),
    ('antmaze-medium-diverse-v2', 'antmaze_medium_diverse'),
    ('quickstart', 'quickstart'),
])
def test_a_task_by_its_names(name, file, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  assert gin_files.of_task(name) == f'gin/{file}.gin'


@pytest.mark.parametrize('method, task, file', [
    ('drvf', 'hopper_medium', None),
    ('edac', 'hopper_medium', 'edac/hopper_medium'),
    ('edac', 'quickstart', 'edac/maze2d_umaze'),  # the task it is on
    ('edac', 'antmaze_umaze', 'edac'),
    ('pbrl', 'hopper_expert', 'pbrl/hopper_expert'),
    ('iql', 'antmaze_medium_play', 'iql_antmaze'),
    ('td3_bc', 'quickstart', 'td3_bc_maze2d'),
    ('cql', 'walker2d_random', 'cql'),
    ('cql_maze2d', 'quickstart', 'cql_maze2d'),
])
def test_a_methods_own_file_for_a_task(method, task, file):
  expected = f'gin/baselines/{file}.gin' if file else None
  assert gin_files.of_method(method, f'gin/{task}.gin') == expected


def test_a_typo_is_answered_with_what_is_close():
  with pytest.raises(errors.UserError, match='did you mean walker2d-random-v2'):
    gin_files.of_task('walker-random-v2')
  with pytest.raises(errors.UserError, match='did you mean .*hopper-medium-v2'):
    gin_files.of_task('hopper-medium-v0')  # another task, with other data
  with pytest.raises(errors.UserError, match='did you mean td3_bc'):
    gin_files.of_method('td3bc', 'gin/quickstart.gin')


def test_the_tasks_are_d4rls_and_parts_are_none():
  found = gin_files.tasks()
  assert set(found.values()) <= set(d4rl_tasks.task_names())
  assert found['quickstart'] == 'maze2d-umaze-v1'
  assert not {'base', 'cpu', 'antmaze', 'paper', 'comparison'} & set(found)
