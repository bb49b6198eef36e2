"""Terminations, against the tasks' own words."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.dynamics import terminations
from drvf_tf.envs import d4rl_tasks


def _hopper(z=1.25, angle=0.0, joint=0.0, velocity=0.0):
  return [z, angle, joint, 0., 0., velocity, 0., 0., 0., 0., 0.]


def test_hopper_by_hand():
  rows = [_hopper(), _hopper(z=0.69), _hopper(angle=0.21), _hopper(angle=-0.21),
          _hopper(velocity=101.), _hopper(joint=-101.), _hopper(z=101.),
          _hopper(joint=float('nan'))]
  np.testing.assert_array_equal(
      terminations.hopper_falls(tf.constant(rows)),
      [False, True, True, True, True, True, False, True])


def test_walker2d_by_hand():
  rows = np.zeros([6, 17], np.float32)
  rows[:, 0] = [1.25, 0.8, 2.0, 1.25, 1.25, 1.25]
  rows[:, 1] = [0.99, 0.0, 0.0, 1.0, -1.0, np.nan]
  np.testing.assert_array_equal(
      terminations.walker2d_falls(tf.constant(rows)), [0, 1, 1, 1, 1, 1])


def test_the_goal_by_hand():
  rows = np.zeros([3, 29], np.float32)
  rows[:, :2] = [[0.5, 8.0], [0.5, 7.9], [1.1, 8.5]]
  np.testing.assert_array_equal(
      terminations.reaches_goal(tf.constant(rows), goal=(0.5, 8.5)),
      [True, False, False])


def test_never():
  assert not terminations.never(tf.ones([3, 2])).numpy().any()


@pytest.mark.parametrize('task, termination', [
    ('hopper-medium-v2', terminations.hopper_falls),
    ('walker2d-medium-v2', terminations.walker2d_falls),
    ('halfcheetah-medium-v2', terminations.never),
    ('maze2d-umaze-v1', terminations.never)])
def test_they_agree_with_the_simulator(task, termination):
  played, rng = d4rl_tasks.Task(task, 0), np.random.default_rng(0)
  space = played.env.action_space
  seen, ends = [], []
  played.reset()
  for _ in range(150):
    outcome = played.step(rng.uniform(space.low, space.high))
    seen.append(outcome.observation)
    ends.append(outcome.terminal)
    if outcome.terminal:
      played.reset()
  np.testing.assert_array_equal(termination(tf.constant(seen)), ends)
  assert any(ends) == task.startswith(('hopper', 'walker2d'))
