"""An episode as a film: a GIF or an MP4, with what the critic says below."""
import functools
import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from drvf_tf import errors
from drvf_tf.train import evaluation, tasks

SUFFIXES = ('.gif', '.mp4')
_STEPS_PER_FRAME = 3
_SECONDS = 0.04  # of a frame
_SIZES = {'.gif': 200, '.mp4': 480}  # pixels of the longer side
_COLOURS = 64  # of a GIF
_LOOKED_AT = 12  # frames that its colours are chosen from
_GREEN, _RED, _GREY = '#009E73', '#D55E00', '#999999'

# An observation `[obs]` to an action `[act]`, q_std and in_support, the last
# two where the policy knows them.
Answer = Callable[[np.ndarray], Mapping[str, Any]]


def film(answer: Answer, task: tasks.Task, seed: int, path: pathlib.Path,
         num_steps: Optional[int] = None,
         threshold: Optional[float] = None) -> None:
  """Writes one episode as a film, small enough for a page.

  Where the policy knows its uncertainty, a strip below the picture draws q_std
  up to the present step, green where the gate is open, red where it is closed.

  Args:
    answer: The policy.
    task: See `tasks`.
    seed: The episode is the first of `saved_policy.evaluate` with that seed.
    path: Where to write; must end in .gif or .mp4.
    num_steps: How many steps of the episode are shown; None for all.
    threshold: The gate's, drawn as a line where known.
  """
  pictures: list[tuple[int, Image.Image]] = []
  said: list[Mapping[str, Any]] = []
  size = _SIZES[path.suffix]

  def watch(env: Any) -> None:
    count = len(said)
    if count % _STEPS_PER_FRAME == 0 and (
        num_steps is None or count < num_steps):
      if hasattr(env, 'set_marker'):
        env.set_marker()  # maze2d's goal, which else is where it was before
      picture = Image.fromarray(env.render(mode='rgb_array'))
      picture.thumbnail((size, size))
      pictures.append((count, picture))

  def act(observation: np.ndarray) -> np.ndarray:
    said.append(answer(observation))
    return said[-1]['action']

  task.episode(act, evaluation.episode_seeds(seed, 0, 1, stream=2)[0], watch)
  shown = said[:num_steps]
  frames = [picture for _, picture in pictures]
  if shown and 'q_std' in shown[0]:
    q_stds = np.array([float(one['q_std']) for one in shown])
    opens = [bool(one.get('in_support', True)) for one in shown]
    frames = [_with_strip(picture, count, q_stds, opens, threshold)
              for count, picture in pictures]
  _write(frames, path)


def _with_strip(picture: Image.Image, count: int, q_stds: np.ndarray,
                opens: Sequence[bool], threshold: Optional[float]
                ) -> Image.Image:
  """A picture with q_std of every step up to `count` below it."""
  width, height = picture.size
  strip = max(30, width // 5)
  frame = Image.new('RGB', (width, height + strip), 'white')
  frame.paste(picture, (0, 0))
  draw = ImageDraw.Draw(frame)
  letters = max(10, width // 22)
  top = 1.1 * max(q_stds.max(), threshold or 0.0, 1e-9)

  def place(step: int, value: float) -> tuple[float, float]:
    return (width * (step + 0.5) / len(q_stds),
            height + strip - 2 - (strip - letters - 4) * value / top)

  if threshold is not None and np.isfinite(threshold):
    level = place(0, threshold)[1]
    draw.line([(0, level), (width, level)], fill=_GREY)
  for step in range(count):
    draw.line([place(step, q_stds[step]), place(step + 1, q_stds[step + 1])],
              fill=_GREEN if opens[step + 1] else _RED, width=2)
  word = 'gate open' if opens[count] else 'gate closed'
  said = f'q_std {q_stds[count]:.2g}  {word}'
  draw.text((3, height + 1), said, font=_font(letters),
            fill=_GREEN if opens[count] else _RED)
  known = '' if threshold is None else f'closes at {threshold:.2g}'
  room = width - 6 - _font(letters).getlength(known)
  if _font(letters).getlength(said) + letters < room:
    draw.text((room + 3, height + 1), known, font=_font(letters), fill=_GREY)
  return frame


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
  """matplotlib's own font: every machine of ours has it, at any size."""
  folder = pathlib.Path(matplotlib.get_data_path()) / 'fonts' / 'ttf'
  return ImageFont.truetype(str(folder / 'DejaVuSans.ttf'), size)


def _write(frames: Sequence[Image.Image], path: pathlib.Path) -> None:
  path.parent.mkdir(parents=True, exist_ok=True)
  if path.suffix == '.mp4':
    _write_mp4(frames, path)
    return
  palette = _palette(frames)
  first, *others = (
      frame.convert('RGB').quantize(palette=palette, dither=Image.Dither.NONE)
      for frame in frames)
  first.save(path, save_all=True, append_images=others, loop=0, optimize=True,
             duration=round(1_000 * _SECONDS))


def _palette(frames: Sequence[Image.Image]) -> Image.Image:
  """One palette for all frames: no flicker, and a third of the bytes.

  An octree keeps colours that few pixels have, such as those of a small ball;
  Pillow's median cut gives them away.
  """
  some = frames[::-max(1, len(frames) // _LOOKED_AT)]  # the last has all lines
  width, height = frames[0].size
  sheet = Image.new('RGB', (width, height * len(some)))
  for number, frame in enumerate(some):
    sheet.paste(frame, (0, height * number))
  return sheet.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE)


def _write_mp4(frames: Sequence[Image.Image], path: pathlib.Path) -> None:
  width, height = (side - side % 2 for side in frames[0].size)  # of H.264
  partial = path.with_name(f'.{path.name}')
  done = subprocess.run(
      [find_ffmpeg(), '-y', '-loglevel', 'error', '-f', 'rawvideo', '-pix_fmt',
       'rgb24', '-s', f'{width}x{height}', '-r', str(round(1 / _SECONDS)),
       '-i', '-', '-pix_fmt', 'yuv420p', '-f', 'mp4', str(partial)],
      input=b''.join(frame.convert('RGB').crop((0, 0, width, height)).tobytes()
                     for frame in frames),
      capture_output=True, check=False)
  if done.returncode:
    partial.unlink(missing_ok=True)
    said = done.stderr.decode('utf-8', 'replace').strip().splitlines()
    raise errors.UserError(
        f'ffmpeg could not write {path} ({(said or ["no reason given"])[-1]}): '
        'name a .gif instead, which needs no ffmpeg.')
  partial.replace(path)


def find_ffmpeg() -> str:
  """The program ffmpeg, of the system or of the package imageio-ffmpeg."""
  found = shutil.which('ffmpeg')
  if found is not None:
    return found
  try:
    import imageio_ffmpeg
    return imageio_ffmpeg.get_ffmpeg_exe()
  except (ImportError, RuntimeError) as error:
    raise errors.UserError(
        'An MP4 needs ffmpeg, and there is none here: `pip install '
        "'drvf_tf[video]'`, or name a .gif instead.") from error
