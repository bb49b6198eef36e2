"""Datasets of tests live in a temporary folder, never in the user's."""
import numpy as np
import pytest


@pytest.fixture(autouse=True, name='folder')
def _folder(tmp_path, monkeypatch):
  folder = tmp_path / 'datasets'
  folder.mkdir()
  monkeypatch.setenv('D4RL_DATASET_DIR', str(folder))
  monkeypatch.setenv('HOME', str(tmp_path / 'home'))
  return folder


@pytest.fixture(name='arrays')
def _arrays():
  """Ten rows of hopper: a terminal in row 3, a timeout in row 7."""
  rng = np.random.default_rng(0)
  arrays = {
      'observations': rng.normal(size=(10, 11)).astype(np.float32),
      'actions': rng.uniform(-1, 1, (10, 3)).astype(np.float32),
      'rewards': np.arange(10, dtype=np.float32),
      'terminals': np.zeros(10, bool),
      'timeouts': np.zeros(10, bool),
  }
  arrays['terminals'][3] = True
  arrays['timeouts'][7] = True
  return arrays
