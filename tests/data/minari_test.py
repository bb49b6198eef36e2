"""Minari, where it is installed and where it is not."""
import sys
import types

import numpy as np
import pytest

from drvf_tf import data, errors


def test_without_minari_a_sentence(monkeypatch):
  monkeypatch.setitem(sys.modules, 'minari', None)
  with pytest.raises(errors.UserError, match=r'drvf_tf\[minari\]'):
    data.load('minari:mujoco/hopper/medium-v0')


def _episode(length, terminal):
  return types.SimpleNamespace(
      observations=np.arange(2 * (length + 1)).reshape(-1, 2).astype(float),
      actions=np.full((length, 1), 0.3), rewards=np.ones(length),
      terminations=np.arange(length) == (length - 1 if terminal else -1),
      truncations=np.zeros(length, bool))


def _fake(monkeypatch, episodes):
  dataset = types.SimpleNamespace(
      iterate_episodes=lambda: iter(episodes),
      action_space=types.SimpleNamespace(low=np.array([-0.4]),
                                         high=np.array([0.4])))
  monkeypatch.setitem(sys.modules, 'minari', types.SimpleNamespace(
      load_dataset=lambda name, download: dataset))


def test_episodes_and_bounds(monkeypatch):
  _fake(monkeypatch, [_episode(3, True), _episode(2, False)])
  dataset = data.load('minari:a/b-v0')
  assert (dataset.size, dataset.num_episodes) == (5, 2)
  np.testing.assert_array_equal(np.flatnonzero(dataset.terminals), [2])
  np.testing.assert_array_equal(dataset.next_observations[2], [6, 7])
  np.testing.assert_allclose(dataset.action_high, [0.4])


def test_structured_observations_are_named(monkeypatch):
  episode = _episode(3, True)
  episode.observations = {'observation': episode.observations}
  _fake(monkeypatch, [episode])
  with pytest.raises(errors.UserError, match='structured observations'):
    data.load('minari:a/b-v0')


def test_a_real_minari_dataset(tmp_path, monkeypatch):
  minari = pytest.importorskip('minari')
  gymnasium = pytest.importorskip('gymnasium')
  monkeypatch.setenv('MINARI_DATASETS_PATH', str(tmp_path))
  ends = np.arange(20) == 19
  buffers = [minari.data_collector.EpisodeBuffer(
      id=i, observations=np.ones((21, 3), np.float32),
      actions=np.ones((20, 1), np.float32), rewards=list(np.ones(20)),
      terminations=list(ends & (i == 0)), truncations=list(ends & (i == 1)))
             for i in range(2)]
  minari.create_dataset_from_buffers(
      'test/pendulum-v0', buffers, env=gymnasium.make('Pendulum-v1'),
      data_format='hdf5')
  dataset = data.load('minari:test/pendulum-v0')
  assert (dataset.size, dataset.num_episodes) == (40, 2)
  np.testing.assert_array_equal(np.flatnonzero(dataset.terminals), [19])
  assert dataset.action_high.tolist() == [2.]
