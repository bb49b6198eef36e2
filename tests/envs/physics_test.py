"""One step from states recorded in MuJoCo 2.1.0."""
import pathlib

import numpy as np
import pytest

from drvf_tf.envs import (
  d4rl_tasks,
  mujoco_models,
  mujoco_py_stand_in,
  physics_check,
)

_FIXTURE = pathlib.Path(__file__).parent / 'mujoco210_transitions.npz'
_TASKS = ('halfcheetah-medium-v2', 'hopper-medium-v2', 'walker2d-medium-v2',
          'antmaze-umaze-v2')


@pytest.fixture(name='records', scope='module')
def _records():
  with np.load(_FIXTURE) as archive:
    return dict(archive)


def _inner(env):
  return env.wrapped_env


@pytest.mark.parametrize('task', _TASKS)
def test_one_step_agrees_with_mujoco_210(task, records):
  env = d4rl_tasks.make(task)
  env.reset(seed=0)
  record = {key.split('/')[1]: value for key, value in records.items()
            if key.startswith(task)}
  assert len(record['qpos']) >= 200
  for i in range(len(record['qpos'])):
    if 'goal' in record:
      _inner(env).set_target_goal(tuple(record['goal'][i]))
    _inner(env).set_state(record['qpos'][i], record['qvel'][i])
    observation, reward, done, _ = env.step(record['act'][i])
    np.testing.assert_allclose(observation, record['obs'][i], rtol=0, atol=1e-8)
    assert reward == pytest.approx(record['rew'][i], abs=1e-8)
    assert done == record['done'][i]


@pytest.mark.parametrize('task', _TASKS)
def test_first_observation_agrees_with_mujoco_210(task, records):
  from gym.envs.mujoco import mujoco_env  # only after drvf_tf.envs
  env = _inner(d4rl_tasks.make(task))
  first = records[f'{task}/first']
  assert first.any()
  for qpos, qvel in zip(records[f'{task}/qpos'][first],
                        records[f'{task}/qvel'][first]):
    start = qpos.copy()
    if task.startswith('antmaze'):
      start[3:7] *= 1.1  # d4rl adds noise, MuJoCo 2.1.0 normalised it away
    env.reset_model = lambda start=start, qvel=qvel: (
        env.set_state(start, qvel) or env._get_obs())
    visible = qpos if task.startswith('antmaze') else qpos[1:]
    np.testing.assert_allclose(
        mujoco_env.MujocoEnv.reset(env), np.concatenate([visible, qvel]),
        rtol=0, atol=1e-12)


def test_another_physics_is_named(monkeypatch):
  monkeypatch.setattr(mujoco_models, '_with_old_capsule_inertia',
                      lambda root, model: model)
  physics_check.require.cache_clear()
  try:
    with pytest.raises(physics_check.PhysicsError,
                       match=r'mujoco \S+ does not have the physics.*pip '
                       r'install mujoco==3\.3\.7'):
      d4rl_tasks.make('hopper-medium-v2')
  finally:
    physics_check.require.cache_clear()


def test_a_model_that_does_not_compile_is_named(monkeypatch):
  def broken(path):
    raise ValueError('XML Error')
  monkeypatch.setattr(mujoco_models, 'load', broken)
  physics_check.require.cache_clear()
  try:
    with pytest.raises(physics_check.PhysicsError, match='XML Error'):
      d4rl_tasks.make('hopper-medium-v2')
  finally:
    physics_check.require.cache_clear()


def test_unstable_simulation_raises(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it stands
  env = _inner(d4rl_tasks.make('hopper-medium-v2'))
  env.reset(seed=0)
  env.sim.data.qvel[:] = 1e12
  with pytest.raises(mujoco_py_stand_in.MujocoException):
    env.sim.step()
