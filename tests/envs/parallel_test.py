"""Batched evaluation over processes."""
import numpy as np
import pytest

from drvf_tf import envs, errors
from drvf_tf.envs import d4rl_tasks, parallel


def test_copies_are_those_of_one_process():
  batched = envs.load_parallel('hopper-medium-v2', seed=4, num_envs=2)
  try:
    singles = [d4rl_tasks.Task('hopper-medium-v2', parallel.worker_seed(4, i))
               for i in range(2)]
    step = batched.reset()
    np.testing.assert_array_equal(
        step.observation, [single.reset() for single in singles])
    assert step.is_first().all()
    actions = np.random.default_rng(0).uniform(-1, 1, (5, 2, 3))
    for action in actions.astype(np.float32):
      step = batched.step(action)
      outcomes = [s.step(a) for s, a in zip(singles, action)]
      np.testing.assert_array_equal(
          step.observation, [o.observation for o in outcomes])
      np.testing.assert_array_equal(step.reward, [o.reward for o in outcomes])
    # Each copy falls in its own time and goes on with its next episode.
    lasts = np.zeros(2, int)
    for _ in range(200):
      was_last = step.is_last()
      step = batched.step(np.ones((2, 3), np.float32))
      assert (step.is_first() == was_last).all()
      assert (step.discount[step.is_last()] == 0.).all()
      lasts += step.is_last()
    assert (lasts > 1).all()
  finally:
    batched.close()


def test_seeds_of_copies_do_not_meet():
  seeds = {parallel.worker_seed(seed, i)
           for seed in range(5) for i in range(20)}
  assert len(seeds) == 100


def test_errors_reach_the_user():
  with pytest.raises(errors.UserError, match='num_envs is 0'):
    envs.load_parallel('hopper-medium-v2', seed=0, num_envs=0)
  with pytest.raises(errors.UserError, match='is not a D4RL task'):
    envs.load_parallel('hopper', seed=0, num_envs=1)
