"""Pictures without a display."""
import subprocess
import types

import numpy as np
import pytest

from drvf_tf import envs, errors
from drvf_tf.envs import rendering


def test_a_picture_or_a_sentence():
  env = envs.load('hopper-medium-v2', seed=0)
  env.reset()
  try:
    picture = env.render()
  except errors.UserError as error:
    pytest.skip(str(error))
  assert picture.shape == (500, 500, 3)
  assert picture.dtype == np.uint8
  assert picture.std() > 10  # a robot, not a blank


@pytest.mark.parametrize('name', ['maze2d-umaze-v1', 'maze2d-large-v1'])
def test_a_maze_fills_its_picture(name):
  env = envs.load(name, seed=0)
  env.reset()
  try:
    picture = env.render().astype(int)
  except errors.UserError as error:
    pytest.skip(str(error))
  brown = picture[..., 0] > picture[..., 2] + 40  # walls; the ground is blue
  rows, columns = (np.flatnonzero(brown.any(axis=axis)) for axis in (1, 0))
  spans = [(line[0], line[-1]) for line in (rows, columns)]
  assert max(last - first for first, last in spans) > 400  # of 500
  for first, last in spans:  # in the middle, and whole
    assert first > 0 and last < 499 and abs(first + last - 499) < 25


def test_without_opengl_a_sentence_names_the_package(monkeypatch):
  monkeypatch.delenv('MUJOCO_GL', raising=False)
  monkeypatch.setattr(subprocess, 'run',
                      lambda *a, **k: types.SimpleNamespace(returncode=1))
  rendering._backend.cache_clear()
  try:
    with pytest.raises(errors.UserError,
                       match='neither EGL nor OSMesa works.*libosmesa6'):
      rendering._backend()
  finally:
    rendering._backend.cache_clear()


def test_no_window():
  env = envs.load('hopper-medium-v2', seed=0)
  env.reset()
  with pytest.raises(errors.UserError, match='needs a window'):
    env.render(mode='human')
