"""D4RL's tasks: names, seeds, ends of episodes, silence."""
import hashlib
import os
import subprocess
import sys
import tempfile

import gym
import numpy as np
import pytest

from drvf_tf import envs, errors
from drvf_tf.envs import d4rl_tasks

_TRAJECTORY = """
import hashlib, sys
import numpy as np
from drvf_tf.envs import d4rl_tasks
task = d4rl_tasks.Task(sys.argv[1], seed=7)
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for _ in range(2):
  digest.update(task.reset())
  for _ in range(10):
    outcome = task.step(rng.uniform(-1, 1, task.env.action_space.shape))
    digest.update(outcome.observation)
print(digest.hexdigest())
assert 'tensorflow' not in sys.modules
"""


def _random_steps(env, num_steps):
  rng = np.random.default_rng(0)
  steps = [env.reset()]
  for _ in range(num_steps):
    steps.append(env.step(rng.uniform(
        -1, 1, env.action_spec().shape).astype(np.float32)))
  return steps


@pytest.mark.parametrize('name', envs.task_names())
def test_task_loads_steps_and_scores(name):
  first, second = (_random_steps(envs.load(name, seed=3), 10) for _ in range(2))
  for a, b in zip(first, second):
    assert a.observation.dtype == np.float32
    assert a.reward.dtype == np.float32
    np.testing.assert_array_equal(a.observation, b.observation)
    assert a.reward == b.reward
  total = sum(float(step.reward) for step in first)
  assert np.isfinite(envs.normalized_score(name, total))
  assert envs.max_episode_steps(name) in (300, 600, 700, 800, 1000)


def test_there_are_24_tasks():
  assert len(set(envs.task_names())) == 15 + 6 + 3


@pytest.mark.parametrize(
    'name', ['hopper-medium-v2', 'antmaze-umaze-v2', 'maze2d-umaze-v1'])
def test_same_seed_same_trajectory_across_processes(name):
  digests = []
  for _ in range(2):
    result = subprocess.run(
        [sys.executable, '-c', _TRAJECTORY, name], capture_output=True,
        text=True, check=True)
    assert result.stderr == ''  # and quiet: nothing but the digest
    digests.append(result.stdout)
    assert len(result.stdout.strip()) == hashlib.sha256().digest_size * 2
  assert digests[0] == digests[1]


def test_other_seed_other_goal():
  goals = []
  for seed in (0, 1):
    env = d4rl_tasks.make('antmaze-large-play-v2')
    env.reset(seed=seed)
    goals.append(env.wrapped_env.target_goal)
  assert goals[0] != goals[1]


def test_antmaze_leaves_the_global_generator_and_no_files():
  np.random.seed(0)
  expected = np.random.RandomState(0).uniform()
  before = set(os.listdir(tempfile.gettempdir()))
  d4rl_tasks.make('antmaze-umaze-v2').reset(seed=1)
  after = set(os.listdir(tempfile.gettempdir()))
  assert not [name for name in after - before if name.endswith('.xml')]
  assert np.random.uniform() == expected


def test_gym_make_is_seeded_and_ends():
  observations = []
  for _ in range(2):
    env = gym.make('antmaze-umaze-v2')
    observations.append(env.reset(seed=5))
    assert env.unwrapped is not None
  np.testing.assert_array_equal(*observations)
  assert gym.make('hopper-medium-v2').spec.max_episode_steps == 1000


def test_timeout_keeps_discount_one():
  env = envs.load('maze2d-umaze-v1', seed=0)
  env.reset()
  for _ in range(300):
    step = env.step(np.zeros(2, np.float32))
  assert step.is_last()
  assert step.discount == 1.
  assert env.step(np.zeros(2, np.float32)).is_first()


def test_terminal_has_discount_zero():
  env = envs.load('hopper-medium-v2', seed=0)
  step = env.reset()
  while not step.is_last():
    step = env.step(np.ones(3, np.float32))
  assert step.discount == 0.


def test_normalized_score_by_hand():
  low, high = envs.reference_scores('hopper-medium-v2')
  np.testing.assert_allclose(
      envs.normalized_score('hopper-medium-v2', [low, high, (low + high) / 2]),
      [0., 100., 50.])
  assert envs.normalized_score('antmaze-umaze-v2', 1.) == 100.
  # D4RL's published reference returns.
  assert (round(low, 4), high) == (-20.2723, 3234.3)


def test_unknown_task_is_named():
  with pytest.raises(errors.UserError, match="'hoper-medium-v2' is not"):
    envs.load('hoper-medium-v2', seed=0)
  with pytest.raises(errors.UserError, match="'CartPole-v1' is not"):
    envs.normalized_score('CartPole-v1', 1.)


def _with_mujoco_py(value, folder):
  environment = dict(os.environ, DRVF_TF_MUJOCO_PY=value,
                     PYTHONPATH=str(folder))
  code = ('from drvf_tf.envs import d4rl_tasks\n'
          "d4rl_tasks.make('hopper-medium-v2')")
  return subprocess.run([sys.executable, '-c', code], env=environment,
                        capture_output=True, text=True, check=False).stderr


def test_real_mujoco_py_is_used_on_request_only(tmp_path):
  package = tmp_path / 'mujoco_py'
  package.mkdir()
  init = package / '__init__.py'
  init.write_text(
      'def load_model_from_path(path): raise SystemExit("the real one")\n')
  assert 'the real one' in _with_mujoco_py('real', tmp_path)
  init.write_text('raise OSError("no MuJoCo here")\n')
  assert ('asks for the real mujoco_py, which does not import here '
          '(no MuJoCo here)') in _with_mujoco_py('real', tmp_path)
  assert "='2' is not known" in _with_mujoco_py('2', tmp_path)
