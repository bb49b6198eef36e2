"""Growth, start-up and evaluation: what the benchmark's suites report."""
import numpy as np
import pytest

from drvf_tf import errors, figures
from drvf_tf.benchmark import evaluation_cost, growth, start_up, step_cost
from drvf_tf.envs import d4rl_tasks


def _points():
  return [growth.Point('M, members', 1, 1e9, 2.0),
          growth.Point('M, members', 3, 3e9, 5.0),
          growth.Point('n, samples', 1, 1e9, 4.0),
          growth.Point('n, samples', 9, 1e9, 4.4)]


def test_growth_is_relative_to_the_first_of_its_axis():
  lines = growth.table(_points()).splitlines()
  assert lines[3] == '| M, members | 3 | 5.0 | 2.50 | 3.00 |'
  assert lines[5] == '| n, samples | 9 | 4.4 | 1.10 | 1.00 |'


def test_growth_has_one_panel_for_each_axis():
  picture = growth.picture(_points(), step_cost.Sizes())
  measured = [axis.lines[0].get_ydata() for axis in picture.axes]
  np.testing.assert_array_equal(measured, [[2.0, 5.0], [4.0, 4.4]])
  expected = [axis.lines[1].get_ydata() for axis in picture.axes]
  np.testing.assert_allclose(expected, [[5 / 3, 5.0], [4.4, 4.4]])
  assert figures.encode(picture)[0].startswith(b'\x89PNG')


def test_evaluations_share_is_of_both_times():
  cost = evaluation_cost.EvaluationCost('hopper', 1_000.0, 1.0, 1_000)
  row = evaluation_cost.table([cost], step_seconds=0.003).splitlines()[-1]
  assert row == '| hopper | 1,000 | 1.0 | 1,000 | 25.00 % |'


def test_one_episode_keeps_one_process_busy(monkeypatch):
  monkeypatch.setattr(
      evaluation_cost, 'PROTOCOL', (('hopper-medium-v2', 1, 1_000),))
  cost, = evaluation_cost.measure((8,), num_workers=2, seconds=0.1)
  limit = d4rl_tasks.max_episode_steps('hopper-medium-v2')
  assert cost.seconds == pytest.approx(2 * limit / cost.steps_per_second)


def test_a_training_that_does_not_start_is_reported():
  with pytest.raises(errors.UserError, match='no_such.gin'):
    start_up.measure(['gin/no_such.gin'])
