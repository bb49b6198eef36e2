"""A small stand-in for `mujoco_py`, backed by the pip package `mujoco`.

It covers what gym 0.23's `MujocoEnv` and d4rl's environments touch, so that
D4RL's own classes run unmodified with neither a MuJoCo binary nor a compiler.
"""
import collections
import importlib.util
import sys
import types
from typing import Any, Optional

import mujoco

from drvf_tf.envs import mujoco_models, physics_check, rendering

MjSimState = collections.namedtuple(
    'MjSimState', ['time', 'qpos', 'qvel', 'act', 'udd_state'])


class MujocoException(Exception):  # noqa: N818  (mujoco_py's name)
  """Raised when the simulation becomes unstable, as mujoco_py does."""


class PyMjModel:
  """mujoco_py's name lookups on top of `mujoco.MjModel`."""

  def __init__(self, raw: mujoco.MjModel):
    self.raw = raw
    self._camera_name2id = {raw.camera(i).name: i for i in range(raw.ncam)}
    self._body_name2id = {raw.body(i).name: i for i in range(raw.nbody)}
    self._site_name2id = {raw.site(i).name: i for i in range(raw.nsite)}
    # Read at every step by gym; a property of the C struct is 10x slower.
    self.nq, self.nv, self.opt = raw.nq, raw.nv, raw.opt

  def __getattr__(self, name: str) -> Any:
    if name == 'raw':
      raise AttributeError(name)
    return getattr(self.raw, name)

  def camera_name2id(self, name: str) -> int:
    """Index of a camera."""
    return self._camera_name2id[name]

  def body_name2id(self, name: str) -> int:
    """Index of a body."""
    return self._body_name2id[name]

  def site_name2id(self, name: str) -> int:
    """Index of a site."""
    return self._site_name2id[name]


class PyMjData:
  """mujoco_py's data accessors on top of `mujoco.MjData`."""

  def __init__(self, model: PyMjModel, raw: mujoco.MjData):
    self.raw, self._model = raw, model
    # Live views of the simulator's memory: valid for as long as `raw` lives.
    self.qpos, self.qvel, self.ctrl = raw.qpos, raw.qvel, raw.ctrl
    self.site_xpos, self.xpos, self.xmat = raw.site_xpos, raw.xpos, raw.xmat

  def __getattr__(self, name: str) -> Any:
    if name in ('raw', '_model'):
      raise AttributeError(name)
    return getattr(self.raw, name)

  def get_body_xpos(self, name: str) -> Any:
    """Position of a body's frame."""
    return self.xpos[self._model.body_name2id(name)]

  def get_body_xmat(self, name: str) -> Any:
    """Rotation of a body's frame."""
    return self.xmat[self._model.body_name2id(name)].reshape(3, 3)


class MjSim:
  """mujoco_py.MjSim: owns the data and steps it."""

  def __init__(self, model: PyMjModel, nsubsteps: int = 1):
    self.model = model
    self.data = PyMjData(model, mujoco.MjData(model.raw))
    self.nsubsteps = nsubsteps
    self._m, self._d = model.raw, self.data.raw
    # A live view of the counts of bad positions, velocities, accelerations
    # and controls; comparing its bytes is the cheapest check there is.
    self._unstable = self._d.warning.number[
        int(mujoco.mjtWarning.mjWARN_BADQPOS):
        int(mujoco.mjtWarning.mjWARN_BADCTRL) + 1]
    self._stable = bytes(self._unstable.nbytes)

  def reset(self) -> None:
    """Back to the model's initial state."""
    mujoco.mj_resetData(self._m, self._d)

  def forward(self) -> None:
    """Recomputes everything that follows from positions and velocities."""
    # MuJoCo 2.1.0 normalised quaternions in place here: d4rl's AntMaze adds
    # noise to qpos at reset and relies on it for the first observation.
    mujoco.mj_normalizeQuat(self._m, self.data.qpos)
    mujoco.mj_forward(self._m, self._d)

  def step(self) -> None:
    """Advances the simulation by `nsubsteps` time steps."""
    mujoco.mj_step(self._m, self._d, self.nsubsteps)
    if self._unstable.tobytes() != self._stable:
      raise MujocoException('The simulation is unstable.')

  def get_state(self) -> MjSimState:
    """A copy of the simulator's state."""
    act = self._d.act.copy() if self._m.na else None
    return MjSimState(
        self._d.time, self.data.qpos.copy(), self.data.qvel.copy(), act, {})

  def set_state(self, state: MjSimState) -> None:
    """Puts a state back; call `forward` after it."""
    self._d.time = state.time
    self.data.qpos[:] = state.qpos
    self.data.qvel[:] = state.qvel
    if state.act is not None:
      self._d.act[:] = state.act


def load_model_from_path(path: str) -> PyMjModel:
  """mujoco_py.load_model_from_path, with MuJoCo 2.1.0's physics."""
  physics_check.require(_unchecked_sim)
  return PyMjModel(mujoco_models.load(path))


def _unchecked_sim(path: str) -> MjSim:
  return MjSim(PyMjModel(mujoco_models.load(path)))


def get_version() -> str:
  """The mujoco_py release whose interface this is."""
  return '2.1.2.14'


def install(broken: Optional[Exception] = None) -> types.ModuleType:
  """Registers the stand-in as `mujoco_py`.

  Args:
    broken: where given, loading any model raises it. It lets packages be
      imported, and the user read the sentence where he can act on it.

  Returns:
    The registered module.
  """
  module = types.ModuleType('mujoco_py', __doc__)
  for name in ('MjSimState', 'MjSim', 'MujocoException',
               'load_model_from_path', 'get_version'):
    setattr(module, name, globals()[name])
  if broken is not None:
    setattr(module, 'load_model_from_path', _raising(broken))  # noqa: B010
  setattr(module, 'MjRenderContextOffscreen', rendering.Offscreen)  # noqa: B010
  setattr(module, 'MjViewer', rendering.Offscreen)  # noqa: B010
  module.__spec__ = importlib.util.spec_from_loader('mujoco_py', loader=None)
  sys.modules['mujoco_py'] = module
  return module


def _raising(error: Exception) -> Any:
  def load(path: str) -> PyMjModel:
    raise error
  return load
