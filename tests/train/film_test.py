"""A film of an episode: as long as asked for, and small."""
import numpy as np
import pytest
from PIL import Image

from drvf_tf.train import saved_policy


class _Env:
  """Shows the number of its step as a shade of grey."""

  def __init__(self, step):
    self._step = step

  def render(self, mode):
    assert mode == 'rgb_array'
    return np.full([500, 400, 3], 20 * self._step, np.uint8)


class _Task:
  """Ten steps."""

  def episode(self, act, seed, watch):
    del act, seed
    for step in range(10):
      watch(_Env(step))


@pytest.mark.parametrize('num_steps, frames', [(None, 4), (6, 2), (7, 3)])
def test_every_third_step_up_to_the_last(tmp_path, num_steps, frames):
  saved_policy.film(lambda x: x, _Task(), 0, tmp_path / 'x.gif', num_steps)
  with Image.open(tmp_path / 'x.gif') as film:
    assert film.n_frames == frames
    assert film.size == (160, 200)
