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


def test_a_gif_keeps_the_colour_of_what_is_small(tmp_path, monkeypatch):
  shades = np.random.default_rng(0).integers(60, 90, (500, 400, 3))

  def render(env, mode):
    picture = shades.astype(np.uint8)
    picture[100:110, 20 * env._step:20 * env._step + 10] = [220, 30, 30]
    return picture

  monkeypatch.setattr(_Env, 'render', render)
  film.film(_plain, _Task(), 0, tmp_path / 'x.gif')
  with Image.open(tmp_path / 'x.gif') as shown:
    for number in range(shown.n_frames):
      shown.seek(number)
      pixels = np.asarray(shown.convert('RGB'), int)
      assert (pixels[..., 0] - pixels[..., 1]).max() > 120, number


def test_an_mp4_is_what_ffmpeg_makes_of_the_frames(tmp_path, monkeypatch):
  program = tmp_path / 'ffmpeg'
  program.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
  program.chmod(program.stat().st_mode | stat.S_IXUSR)
  monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
  film.film(_plain, _Task(), 0, tmp_path / 'x.mp4', 6)
  assert (tmp_path / 'x.mp4').stat().st_size == 2 * 384 * 480 * 3
  assert not (tmp_path / '.x.mp4').exists()


def test_a_real_mp4_has_the_frames_and_the_gate(tmp_path):
  imageio_ffmpeg = pytest.importorskip('imageio_ffmpeg')
  film.film(_knowing, _Task(), 0, tmp_path / 'x.mp4', threshold=5.0)
  reader = imageio_ffmpeg.read_frames(str(tmp_path / 'x.mp4'))
  facts = next(reader)
  assert facts['codec'] == 'h264' and facts['fps'] == 25
  width, height = facts['size']
  assert (width, height) == (384, 480 + 76)
  frames = [np.frombuffer(data, np.uint8).reshape(height, width, 3).astype(int)
            for data in reader]
  # Steps 0, 3, 6 and 9, each in its own shade of grey.
  np.testing.assert_allclose(
      [frame[:470].mean() for frame in frames], [0, 60, 120, 180], atol=6)
  # The gate closes at step 5: red and no green where the letters are.
  letters = [frame[482:500, :250] for frame in frames]
  reds = [(one[..., 0] - one[..., 1]).max() > 60 for one in letters]
  greens = [(one[..., 1] - one[..., 0]).max() > 60 for one in letters]
  assert reds == [False, False, True, True]
  assert greens == [True, True, False, False]


def test_the_goal_of_a_maze_is_marked_in_the_first_frame(tmp_path, monkeypatch):
  marked = []
  monkeypatch.setattr(_Env, 'set_marker', lambda env: marked.append(env._step),
                      raising=False)
  film.film(_plain, _Task(), 0, tmp_path / 'x.gif', 6)
  assert marked == [0, 3]


def test_an_mp4_without_ffmpeg_is_told(tmp_path, monkeypatch):
  monkeypatch.setattr(film.shutil, 'which', lambda name: None)
  monkeypatch.setitem(__import__('sys').modules, 'imageio_ffmpeg', None)
  with pytest.raises(errors.UserError, match=r'drvf_tf\[video\]'):
    film.film(_plain, _Task(), 0, tmp_path / 'x.mp4')
