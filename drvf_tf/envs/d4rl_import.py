"""Imports gym and the parts of d4rl that hold its tasks, quietly.

`import d4rl` stops half-way, because a package it wants is on no registry,
and it greets with warnings on the way. Here its task modules are imported by
name, on the `mujoco_py` stand-in.

Set the environment variable DRVF_TF_MUJOCO_PY=real to run on a real, working
`mujoco_py` instead; where that does not work, making a task says so.
"""
import contextlib
import importlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from unittest import mock

from drvf_tf import errors
from drvf_tf.envs import mujoco_py_stand_in

MUJOCO_PY_VARIABLE = 'DRVF_TF_MUJOCO_PY'

_TASK_MODULES = ('d4rl.gym_mujoco', 'd4rl.locomotion', 'd4rl.pointmaze')
# What we do not use, and what warns, prints or fails when imported.
_UNUSED = ('hand_manipulation_suite', 'gym_minigrid', 'flow', 'kitchen',
           'carla', 'gym_bullet', 'pointmaze_bullet')


def import_quietly() -> None:
  """Registers D4RL's tasks with gym; once is enough."""
  _choose_mujoco_py()
  with _silent(), _without_dataset_folder(), _without_unused_parts():
    for name in _TASK_MODULES:
      importlib.import_module(name)
    import gym
  # D4RL's classes use deprecated calls of gym at every reset.
  gym.logger.set_level(gym.logger.ERROR)


def _choose_mujoco_py() -> None:
  choice = os.environ.get(MUJOCO_PY_VARIABLE, 'stand-in')
  if choice == 'stand-in':
    mujoco_py_stand_in.install()
  elif choice == 'real':
    try:
      importlib.import_module('mujoco_py')
    except Exception as error:  # noqa: BLE001  (it compiles: anything can fail)
      cause = str(error).strip().split('\n')[0]
      mujoco_py_stand_in.install(broken=errors.UserError(
          f'{MUJOCO_PY_VARIABLE}=real asks for the real mujoco_py, which does '
          f'not import here ({cause}): mend it, '
          f'or unset {MUJOCO_PY_VARIABLE} to use the pip package mujoco.'))
  else:
    mujoco_py_stand_in.install(broken=errors.UserError(
        f'{MUJOCO_PY_VARIABLE}={choice!r} is not known: set it to `real`, or '
        'unset it.'))


@contextlib.contextmanager
def _silent() -> Iterator[None]:
  with contextlib.redirect_stdout(io.StringIO()), \
      contextlib.redirect_stderr(io.StringIO()):
    yield


@contextlib.contextmanager
def _without_unused_parts() -> Iterator[None]:
  """`None` in sys.modules makes an import fail at once, which d4rl allows."""
  names = [f'd4rl.{part}' for part in _UNUSED]
  blocked = [name for name in names if name not in sys.modules]
  sys.modules.update(dict.fromkeys(blocked))  # type: ignore[arg-type]
  try:
    with mock.patch.dict(os.environ, D4RL_SUPPRESS_IMPORT_ERROR='1'):
      yield
  finally:
    for name in blocked:
      del sys.modules[name]


@contextlib.contextmanager
def _without_dataset_folder() -> Iterator[None]:
  """d4rl creates its folder when imported, even where it may not write."""
  before = os.environ.get('D4RL_DATASET_DIR')
  with tempfile.TemporaryDirectory() as folder:
    os.environ['D4RL_DATASET_DIR'] = folder
    try:
      yield
    finally:
      del os.environ['D4RL_DATASET_DIR']
      if before is not None:
        os.environ['D4RL_DATASET_DIR'] = before
  from d4rl import offline_env
  offline_env.DATASET_PATH = before or os.path.expanduser('~/.d4rl/datasets')
