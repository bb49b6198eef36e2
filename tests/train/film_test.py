"""A film of an episode: as long as asked for, small, the gate below it."""
import stat

import numpy as np
import pytest
from PIL import Image

from drvf_tf import errors
from drvf_tf.train import film


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
    del seed
    for step in range(10):
      watch(_Env(step))
      act(np.array([step], np.float32))


def _plain(observation):
  return {'action': observation}


def _knowing(observation):
  step = float(observation[0])
  return {'action': observation, 'q_std': step, 'in_support': step < 5}


@pytest.mark.parametrize('num_steps, frames', [(None, 4), (6, 2), (7, 3)])
def test_every_third_step_up_to_the_last(tmp_path, num_steps, frames):
  film.film(_plain, _Task(), 0, tmp_path / 'x.gif', num_steps)
  with Image.open(tmp_path / 'x.gif') as shown:
    assert shown.n_frames == frames
    assert shown.size == (160, 200)


def _colours(frame):
  """Which of the gate's two colours are in the strip below the picture."""
  strip = np.asarray(frame.convert('RGB'), int)[200:].reshape(-1, 3)

  def has(colour):
    goal = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    return bool((np.abs(strip - goal).sum(axis=1) < 40).any())

  return has(film._GREEN), has(film._RED)


def test_the_gate_is_drawn_while_the_episode_runs(tmp_path):
  film.film(_knowing, _Task(), 0, tmp_path / 'x.gif', threshold=5.0)
  with Image.open(tmp_path / 'x.gif') as shown:
    assert shown.size == (160, 232)
    found = []
    for number in range(4):  # steps 0, 3, 6, 9
      shown.seek(number)
      found.append(_colours(shown))
  assert found[:2] == [(True, False), (True, False)]
  assert found[2:] == [(True, True), (True, True)]


def test_an_mp4_is_what_ffmpeg_makes_of_the_frames(tmp_path, monkeypatch):
  program = tmp_path / 'ffmpeg'
  program.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
  program.chmod(program.stat().st_mode | stat.S_IXUSR)
  monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
  film.film(_plain, _Task(), 0, tmp_path / 'x.mp4', 6)
  assert (tmp_path / 'x.mp4').stat().st_size == 2 * 384 * 480 * 3
  assert not (tmp_path / '.x.mp4').exists()


def test_an_mp4_without_ffmpeg_is_told(tmp_path, monkeypatch):
  monkeypatch.setattr(film.shutil, 'which', lambda name: None)
  monkeypatch.setitem(__import__('sys').modules, 'imageio_ffmpeg', None)
  with pytest.raises(errors.UserError, match=r'drvf_tf\[video\]'):
    film.film(_plain, _Task(), 0, tmp_path / 'x.mp4')
