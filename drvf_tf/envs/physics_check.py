"""Refuses a `mujoco` whose physics is not that of D4RL's data.

A few steps recorded in MuJoCo 2.1.0 travel with the package. They are taken
again before the first model of a process is used: another release of `mujoco`
either reproduces them or is named in an error, but never drifts silently.
"""
import functools
import importlib.resources
import pathlib
from collections.abc import Mapping
from typing import Any, Callable

import mujoco
import numpy as np

from drvf_tf import errors

TESTED_VERSION = '3.3.7'
_REFERENCE = 'physics_reference.npz'
# Simulator steps for one of the environment's.
_FRAME_SKIP = {'half_cheetah.xml': 5, 'hopper.xml': 4, 'walker2d.xml': 4,
               'ant.xml': 5}
_TOLERANCE = 1e-8
_CLIPPED = 10.  # gym clips velocities in observations of hopper and walker2d


class PhysicsError(errors.UserError):
  """The installed MuJoCo does not reproduce D4RL's physics."""


@functools.cache
def require(make_sim: Callable[[str], Any]) -> None:
  """Takes the recorded steps again, once per process.

  Args:
    make_sim: compiles a model's file into a simulation.

  Raises:
    PhysicsError: where a step differs from MuJoCo 2.1.0's.
  """
  reference = importlib.resources.files('drvf_tf.envs') / _REFERENCE
  with reference.open('rb') as file, np.load(file) as archive:
    records = dict(archive)
  for model in _FRAME_SKIP:
    try:
      error = _step_error(make_sim(str(_model_file(model))), model, records)
    except Exception as cause:  # noqa: BLE001  (any failure means: not this one)
      raise PhysicsError(_sentence(model, f'fails: {cause}')) from cause
    if not error < _TOLERANCE:
      raise PhysicsError(_sentence(model, f'is off by {error:.1g}'))


def _sentence(model: str, what: str) -> str:
  return (
      f"mujoco {mujoco.__version__} does not have the physics of D4RL's data "
      f'(one step of {model} {what}), so scores would not mean what the '
      f"paper's do: `pip install mujoco=={TESTED_VERSION}`.")


def _model_file(model: str) -> pathlib.Path:
  import d4rl
  import gym
  if model == 'ant.xml':
    return pathlib.Path(d4rl.__file__).parent / 'locomotion/assets' / model
  return pathlib.Path(gym.__file__).parent / 'envs/mujoco/assets' / model


def _step_error(sim: Any, model: str, records: Mapping[str, Any]) -> float:
  """Largest difference in mass and in the states after one step."""
  errors = [np.abs(sim.model.body_mass - records[f'{model}/mass']).max()]
  low, high = sim.model.actuator_ctrlrange.T
  for qpos, qvel, action, expected in zip(*(
      records[f'{model}/{key}'] for key in ('qpos', 'qvel', 'act', 'obs'))):
    sim.reset()
    sim.data.qpos[:], sim.data.qvel[:] = qpos, qvel
    sim.forward()
    sim.data.ctrl[:] = np.clip(
        low + (action + 1.) / 2 * (high - low), low, high)
    for _ in range(_FRAME_SKIP[model]):
      sim.step()
    state = np.concatenate([sim.data.qpos, sim.data.qvel])[-len(expected):]
    errors.append(np.abs(state - expected)[np.abs(expected) < _CLIPPED].max())
  return float(np.max(errors))
