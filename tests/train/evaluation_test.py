"""Episodes in worker processes: the same whoever runs them, and when."""
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.policies import numpy_actor, policy_snapshot
from drvf_tf.train import evaluation, rollouts, tasks


class PointTask:
  """A walk on a line that its seed starts; needs no simulator."""

  name = 'point'

  def episode(self, act, seed, watch=None):
    del watch
    random = np.random.RandomState(seed % 2**31)
    position, total = random.uniform(-1, 1), 0.0
    for _ in range(5 + seed % 3):
      position += float(act(np.array([position], np.float32))[0])
      total += position
    return tasks.Episode(total, 5 + seed % 3)

  def score(self, returns):
    return 10 * np.asarray(returns)


class BrokenTask(PointTask):
  """A task whose simulator is missing."""

  def episode(self, act, seed, watch=None):
    raise errors.UserError('no simulator: install one.')


def _actor(gain=-0.5):
  kernel = np.array([[gain]], np.float32)
  zero, one = np.zeros(1, np.float32), np.ones(1, np.float32)
  return numpy_actor.NumpyActor([(kernel, zero)], zero, one, zero, one)


def _policy(actor):
  return policy_snapshot.Policy(
      snapshot=lambda: actor,
      act=lambda batch: np.stack([_actor()(row) for row in batch]))


def test_workers_and_parent_give_the_same_episodes():
  seeds = evaluation.episode_seeds(seed=1, step=2, count=5)
  assert len(set(seeds)) == 5
  expected = [PointTask().episode(_actor(), seed) for seed in seeds]
  for num_workers in (1, 3):
    pool = rollouts.Rollouts(PointTask(), num_workers)
    try:
      pool.start(_actor(), seeds)
      assert pool.collect() == expected
      assert pool.run(_policy(None).act, seeds) == expected
      assert pool.collect() == []
    finally:
      pool.close()


@pytest.fixture(name='evaluate')
def _evaluate():
  started = []

  def make(actor):
    started.append(evaluation.Evaluation(
        PointTask(), _policy(actor), seed=3, interval=10, num_episodes=4,
        final_episodes=6, num_workers=2))
    return started[-1]

  yield make
  for item in started:
    item.close()


def test_rows_hold_every_return(evaluate):
  evaluator = evaluate(_actor())
  evaluator.start(20)
  assert evaluator.pending_step == 20
  row = evaluator.collect()
  assert (row['step'], row['final'], len(row['returns'])) == (20, False, 4)
  assert row['score'] == pytest.approx(10 * row['mean_return'])
  assert not evaluator.ready()
  final = evaluator.final(20)
  assert final['final'] and len(final['returns']) == 6
  assert not set(final['returns']) & set(row['returns'])


def test_an_evaluation_under_way_can_be_put_aside(evaluate):
  first, second = evaluate(_actor(-0.3)), evaluate(_actor(-0.9))
  first.start(20)
  second.resume(first.suspend())
  assert second.collect() == first.collect()
  assert first.suspend() is None


def test_a_policy_without_a_numpy_form_is_called_here(evaluate):
  local, remote = evaluate(_actor()), evaluate(None)
  local.start(20)
  remote.start(20)
  assert remote.ready()
  assert remote.collect() == local.collect()
  assert remote.final(20) == local.final(20)


def test_an_error_in_a_worker_is_the_users_sentence():
  pool = rollouts.Rollouts(BrokenTask(), 1)
  try:
    pool.start(_actor(), [1])
    with pytest.raises(errors.UserError, match='install one'):
      pool.collect()
  finally:
    pool.close()


def test_a_task_repeats_an_episode_whatever_it_ran_before():
  task, actor = tasks.D4rlTask('maze2d-umaze-v1'), _random_actor(4, 2)
  first = task.episode(actor, seed=7)
  task.episode(actor, seed=8)
  assert task.episode(actor, seed=7) == first
  assert first.length == 300
  np.testing.assert_allclose(task.score([137.9, 137.9]), [82.6, 82.6], atol=.1)


def _random_actor(inputs, outputs):
  random = np.random.RandomState(0)
  layers = [(random.normal(size=[inputs, 8]).astype(np.float32),
             np.zeros(8, np.float32)),
            (random.normal(size=[8, outputs]).astype(np.float32),
             np.zeros(outputs, np.float32))]
  return numpy_actor.NumpyActor(
      layers, np.zeros(outputs, np.float32), np.ones(outputs, np.float32),
      np.zeros(inputs, np.float32), np.ones(inputs, np.float32))
