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
