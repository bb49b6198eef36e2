"""Pictures of a simulation, with or without a display."""
import atexit
import functools
import os
import subprocess
import sys
from typing import Any, Optional

import mujoco
import numpy as np

from drvf_tf import errors

_PROBE = 'import mujoco; mujoco.GLContext(64, 64).make_current()'


class Offscreen:
  """Enough of mujoco_py's offscreen context for `render(mode='rgb_array')`."""

  def __init__(self, sim: Any, device_id: int = -1):
    del device_id
    self._sim = sim
    self._renderer: Optional[mujoco.Renderer] = None
    self._size: tuple[int, int] = (0, 0)
    self.cam = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(sim.model.raw, self.cam)
    _look_down_on_maze(sim.model.raw, self.cam)

  def render(self, width: Optional[int] = None, height: Optional[int] = None,
             camera_id: Optional[int] = None) -> None:
    """Draws the present state; `read_pixels` gives the picture."""
    if width is None or height is None:
      raise errors.UserError(
          "render(mode='human') needs a window, which this simulator does not "
          "open: use render(mode='rgb_array') and show the array it returns.")
    if self._renderer is None or self._size != (width, height):
      _use_backend(_backend())
      model = self._sim.model.raw
      model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
      model.vis.global_.offheight = max(model.vis.global_.offheight, height)
      self._renderer = mujoco.Renderer(model, height, width)
      # Registered after the backend's own: freed before the display is.
      atexit.register(self._renderer.close)
      self._size = (width, height)
    camera = self.cam if camera_id is None else camera_id
    self._renderer.update_scene(self._sim.data.raw, camera)

  def read_pixels(self, width: int, height: int, depth: bool = False) -> Any:
    """The last drawn picture, upside down as OpenGL gives it."""
    del width, height
    assert self._renderer is not None
    pixels: np.ndarray = self._renderer.render()[::-1]
    if not depth:
      return pixels
    self._renderer.enable_depth_rendering()
    distances = self._renderer.render()[::-1]
    self._renderer.disable_depth_rendering()
    return pixels, distances


def _look_down_on_maze(model: mujoco.MjModel, camera: mujoco.MjvCamera) -> None:
  """All of a maze2d maze, from above; other tasks keep MuJoCo's camera.

  The ground is far larger than the maze: MuJoCo's own camera looks at its
  middle, and shows the maze small and in a corner.
  """
  walls = [i for i in range(model.ngeom)
           if model.geom(i).name.startswith('wall_')]
  if not walls:
    return
  low, high = (edge(model.geom_pos[walls], axis=0)
               for edge in (np.min, np.max))
  camera.lookat[:] = (low + high) / 2
  side = np.max(high - low) + 1.5  # walls are one wide, and a margin
  camera.distance = side / 2 / np.tan(np.radians(model.vis.global_.fovy / 2))
  camera.azimuth, camera.elevation = 90, -90


@functools.cache
def _backend() -> str:
  """The first OpenGL backend that works here, or the one the user named."""
  if os.environ.get('MUJOCO_GL'):
    return os.environ['MUJOCO_GL']
  candidates = ['egl', 'osmesa']
  if os.environ.get('DISPLAY') or not sys.platform.startswith('linux'):
    candidates.append('glfw')
  for backend in candidates:
    # PyOpenGL cannot change its platform once imported: try in a process
    # that may fail.
    env = dict(os.environ, MUJOCO_GL=backend)
    if backend != 'glfw':
      env['PYOPENGL_PLATFORM'] = backend
    probe = subprocess.run([sys.executable, '-c', _PROBE], env=env, check=False,
                           capture_output=True)
    if probe.returncode == 0:
      return backend
  raise errors.UserError(
      'rendering needs OpenGL, and neither EGL nor OSMesa works on this '
      'machine: install one of them (Debian and Ubuntu: `apt-get install '
      'libegl1` or `apt-get install libosmesa6`), or set MUJOCO_GL.')


def _use_backend(backend: str) -> None:
  """Gives `mujoco.Renderer` the backend, which it fixed when imported."""
  if backend == 'egl':
    os.environ.setdefault('PYOPENGL_PLATFORM', 'egl')
    from mujoco import egl as context
  elif backend == 'osmesa':
    os.environ.setdefault('PYOPENGL_PLATFORM', 'osmesa')
    from mujoco import osmesa as context
  else:
    return
  mujoco.gl_context.GLContext = context.GLContext
