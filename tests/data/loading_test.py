"""Files, names and the errors a user can make."""
import pathlib

import gin
import h5py
import numpy as np
import pytest

from drvf_tf import data, errors
from drvf_tf.data import embedded, files, loading, validation
from drvf_tf.envs import d4rl_tasks


def _write(folder, arrays, name='hopper_medium-v2.hdf5'):
  files.write(folder / name, arrays, note='made by a test')
  return folder / name


def test_by_name_from_the_folder(folder, arrays):
  _write(folder, arrays)
  dataset = data.load('hopper-medium-v2')
  assert dataset.name == 'hopper-medium-v2'
  assert dataset.provenance == 'hopper_medium-v2.hdf5 (made by a test)'
  assert (dataset.size, dataset.num_episodes) == (8, 3)
  np.testing.assert_allclose(dataset.episode_returns(), [6, 15, 8])
  np.testing.assert_array_equal(dataset.episode_lengths(), [4, 3, 1])
  assert [s.stop - s.start for s in dataset.episodes()] == [4, 3, 1]
  assert dataset.reference_scores == d4rl_tasks.reference_scores(
      'hopper-medium-v2')
  assert dataset.observation_spec.shape == (11,)
  assert dataset.action_spec.maximum.tolist() == [1, 1, 1]
  assert dataset.time_step_spec.observation.dtype == np.float32


def test_default_folder_comes_second(tmp_path, arrays):
  _write(tmp_path / 'home/.d4rl/datasets', arrays)
  assert data.load('hopper-medium-v2').size == 8


def test_v1_columns_and_float64(folder, arrays):
  v1 = {key: value.astype(np.float64) for key, value in arrays.items()}
  v1['rewards'] = v1['rewards'][:, None]
  dataset = data.load(str(_write(folder, v1)), task='hopper-medium-v2')
  assert dataset.hash() == data.from_arrays(
      arrays, 'hopper', task='hopper-medium-v2').hash()
  assert dataset.observations.dtype == np.float32


def test_npz_without_a_task(tmp_path, arrays):
  np.savez(tmp_path / 'mine.npz', **arrays)
  dataset = data.load(str(tmp_path / 'mine.npz'))
  assert dataset.name == 'mine'
  assert dataset.reference_scores is None
  assert dataset.size == 8


def test_arrays_are_frozen_and_hashed(arrays):
  dataset = data.from_arrays(arrays, 'mine')
  with pytest.raises(ValueError):
    dataset.rewards[0] = 1.
  arrays['rewards'] = arrays['rewards'] + 1
  assert data.from_arrays(arrays, 'mine').hash() != dataset.hash()


def test_gin_chooses_source_and_transforms(folder, arrays):
  _write(folder, arrays)
  gin.parse_config("""
      loading.load.source = 'hopper-medium-v2'
      loading.load.transforms = (@affine_reward, @normalize_observations)
      affine_reward.scale = 2.0
      affine_reward.offset = 1.0
  """)
  dataset = data.load()
  np.testing.assert_allclose(dataset.rewards[:3], [-2, 0, 2])
  assert dataset.observation_mean is not None


def _expect(arrays, error, match, task='hopper-medium-v2'):
  with pytest.raises(error, match=match):
    data.from_arrays(arrays, 'mine', task=task)


def test_missing_key(arrays):
  del arrays['rewards']
  _expect(arrays, validation.MissingKeyError, "no array 'rewards'")


def test_lengths_that_differ(arrays):
  arrays['actions'] = arrays['actions'][:-1]
  _expect(arrays, validation.LengthError,
          "'actions' of arrays has 9 rows and 'observations' 10")


def test_wrong_rank(arrays):
  arrays['rewards'] = arrays['observations']
  _expect(arrays, validation.LengthError, 'must have 1 axis')


def test_no_rows(arrays):
  empty = {key: value[:0] for key, value in arrays.items()}
  _expect(empty, validation.LengthError, 'has no rows')


@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_not_finite(arrays, value):
  arrays['observations'][4, 2] = value
  _expect(arrays, validation.NotFiniteError,
          r"'observations' of arrays has NaN .* the first is row 4")


def test_actions_outside_the_bounds(arrays):
  arrays['actions'][5, 0] = 1.5
  _expect(arrays, validation.ActionBoundsError,
          r'1 row\(s\) with actions outside \[-1, 1\], the first is row 5')
  _expect(arrays, validation.ActionBoundsError, 'outside', task=None)


def test_sizes_of_another_task(arrays):
  _expect(arrays, validation.SizeError, 'observations of size 11.*has size 17',
          task='walker2d-medium-v2')
  arrays['actions'] = arrays['actions'][:, :2]
  _expect(arrays, validation.SizeError, 'actions of size 2')


def test_sparse_task_without_reward(arrays):
  maze = {'observations': arrays['observations'][:, :4],
          'actions': arrays['actions'][:, :2],
          'rewards': np.zeros(10), 'terminals': np.zeros(10)}
  _expect(maze, validation.NoRewardError, 'all 10 rewards of arrays are zero',
          task='maze2d-umaze-v1')
  dataset = data.from_arrays(maze, 'mine', 'maze2d-umaze-v1',
                             require_reward=False)
  assert dataset.size == 9


@pytest.mark.parametrize('suffix', ['hdf5', 'npz'])
def test_truncated_file(tmp_path, arrays, suffix):
  path = tmp_path / f'half.{suffix}'
  if suffix == 'npz':
    np.savez(path, **arrays)
  else:
    files.write(path, arrays, note='')
  path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])
  with pytest.raises(validation.TruncatedFileError,
                     match=f'is not a whole {suffix} file'):
    data.load(str(path))


def test_no_such_file(tmp_path):
  with pytest.raises(files.DatasetNotFoundError, match='there is no file'):
    data.load(str(tmp_path / 'none.hdf5'))


def test_no_network_names_file_folder_and_alternative(monkeypatch, folder):
  monkeypatch.setattr(d4rl_tasks, 'dataset_url',
                      lambda name: 'http://127.0.0.1:9/hopper_medium-v2.hdf5')
  with pytest.raises(errors.UserError) as error:
    data.load('hopper-medium-v2')
  message = str(error.value)
  for part in ('hopper_medium-v2.hdf5', str(folder), embedded.TASK,
               'generated'):
    assert part in message
  assert not list(folder.iterdir())  # no half file


def test_download_is_whole(monkeypatch, tmp_path, folder, arrays):
  source = _write(tmp_path / 'server', arrays)
  monkeypatch.setattr(d4rl_tasks, 'dataset_url', lambda name: source.as_uri())
  assert data.load('hopper-medium-v2').size == 8
  assert [path.name for path in folder.iterdir()] == ['hopper_medium-v2.hdf5']


def test_read_only_folder_is_left_alone(folder, tmp_path):
  folder.chmod(0o555)
  try:
    chosen = files.writable_folder()
  finally:
    folder.chmod(0o755)
  assert chosen == tmp_path / 'home/.d4rl/datasets'


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
  monkeypatch.setattr(h5py.File, 'create_dataset', None)
  with pytest.raises(TypeError):
    files.write(tmp_path / 'x.hdf5', {'rewards': np.zeros(1)}, note='')
  assert not list(tmp_path.glob('*hdf5*'))


def test_embedded_default_is_generated_once(folder, caplog):
  gin.parse_config('generated_maze2d.num_steps = 600')
  dataset = data.load('maze2d-umaze-v1', require_reward=False)
  assert dataset.size == 600
  assert 'generated, not D4RL' in dataset.provenance
  (path,) = folder.iterdir()
  assert isinstance(path, pathlib.Path)
  modified = path.stat().st_mtime_ns
  again = data.load('maze2d-umaze-v1', require_reward=False)
  assert again.hash() == dataset.hash()
  assert path.stat().st_mtime_ns == modified


def test_d4rls_own_file_comes_before_the_generated(folder, arrays):
  maze = dict(arrays, observations=arrays['observations'][:, :4],
              actions=arrays['actions'][:, :2])
  _write(folder, maze, 'maze2d-umaze-sparse-v1.hdf5')
  assert loading.task_file('maze2d-umaze-v1').name == (
      'maze2d-umaze-sparse-v1.hdf5')
