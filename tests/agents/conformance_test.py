"""What every method of the family must do, whatever it is made of.

A method is a gin file over a task's; the suite finds them by themselves.
"""
import pathlib

import gin
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import py_driver
from tf_agents.environments import random_py_environment
from tf_agents.policies import greedy_policy, py_tf_eager_policy
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory

from drvf_tf.policies import exporting, uncertainty_policy
from drvf_tf.runs import configuration
from tests import fakes

_GIN = pathlib.Path(__file__).parents[2] / 'gin'
_ALL = ['drvf'] + sorted(
    path.stem for path in (_GIN / 'baselines').glob('*.gin'))
# Two critics and their minimum, or none, are no ensemble.
WITHOUT_ENSEMBLE = ('bc', 'filtered_bc', 'cql', 'td3_bc', 'iql', 'rebrac')


def _slow_unless(fast):
  return [method if fast(method)
          else pytest.param(method, marks=pytest.mark.slow)
          for method in _ALL]


# The same parts with other numbers are for the slow tests, and so is what is
# costly to show, for all but a few of different make.
_SAME_PARTS = ('lb_sac', 'filtered_bc', 'pbrl_expert', 'mopo', 'drvf_model',
               '_antmaze', '_maze2d')
METHODS = _slow_unless(lambda method: not method.endswith(_SAME_PARTS))
COSTLY = _slow_unless(
    lambda method: method in ('edac', 'pbrl_prior', 'dropout', 'td3_bc',
                              'atac'))
_SMALL = ['EnsembleCriticNetwork.hidden_units=(8, 8)',
          'EnsembleCriticNetwork.num_members=3',
          'tanh_gaussian_actor.hidden_units=(8, 8)',
          'baseline_actor.hidden_units=(8, 8)',
          'baseline_critic.hidden_units=(8, 8)',
          'CqlAgent.num_bc_steps=1', 'START=2', 'UwacAgent.num_masks=3',
          'UwacAgent.warm_up_steps=1', 'BehaviourVae.hidden_units=(8, 8)']


def _make(method, seed=0):
  """The agent of a method, small, as the training loop builds it."""
  gin.clear_config()
  overlay = [] if method == 'drvf' else [f'gin/baselines/{method}.gin']
  configuration.parse(['gin/maze2d_umaze.gin', *overlay], _SMALL)
  agent = gin.get_bindings('train_eval')['agent'](
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0, seed=seed,
      train_step_counter=tf.Variable(
          0, dtype=tf.int64, trainable=False,
          aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA))
  agent.initialize()
  return agent


def _train(agent, first, last):
  """Eager steps: for so few of them a trace costs more than it saves."""
  for step in range(first, last):
    info = agent.train(fakes.transition(seed=step))
  return info


def _values(agent):
  return [v.numpy() for v in agent.variables]


def _as_trajectories(size=8):
  observations, actions, rewards, discounts, following = fakes.arrays(size)
  pair = lambda a, b: tf.constant(np.stack([a, b], axis=1))  # noqa: E731
  types = tf.ones([size, 2], tf.int32)
  return trajectory.Trajectory(
      types, pair(observations, following), pair(actions, actions), (), types,
      pair(rewards, rewards), pair(discounts, discounts))


@pytest.mark.parametrize('method', METHODS)
def test_trains_moves_everything_and_stays_finite(method):
  agent = _make(method)
  learned = [v for v in agent.trainable_variables if 'prior/' not in v.name]
  before = [v.numpy() for v in learned]
  info = _train(agent, 0, 4)  # an actor may wait for its turn
  assert np.isfinite(info.loss)
  assert info.extra and all(
      v.shape == [] and np.isfinite(v) for v in info.extra.values())
  for variable, old in zip(learned, before):
    assert not np.array_equal(variable, old), variable.name
  assert int(agent.train_step_counter) == 4


@pytest.mark.parametrize('method', METHODS)
def test_transitions_and_trajectories_give_the_same_step(method):
  one, other = _make(method), _make(method)
  one.train(fakes.transition())
  other.train(_as_trajectories())
  for a, b in zip(_values(one), _values(other)):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize('method', METHODS)
def test_online_and_target_networks_share_nothing(method):
  agent = _make(method)
  networks = {name: value for name, value in vars(agent).items()
              if isinstance(value, tf.keras.layers.Layer)}
  targets = {id(v) for name, value in networks.items() if 'target' in name
             for v in value.variables}
  online = {id(v) for name, value in networks.items() if 'target' not in name
            for v in value.variables}
  assert online
  assert not targets & online


@pytest.mark.parametrize('method', METHODS)
def test_same_seed_same_weights_and_a_checkpoint_resumes_exactly(
    method, tmp_path):
  straight = _make(method, seed=3)
  _train(straight, 0, 2)
  path = tf.train.Checkpoint(agent=straight).write(str(tmp_path / 'c'))
  _train(straight, 2, 4)
  resumed = _make(method, seed=3)
  _train(resumed, 7, 8)  # creates optimizer slots, at other values
  tf.train.Checkpoint(agent=resumed).read(path).assert_consumed()
  _train(resumed, 2, 4)
  for variable, expected in zip(resumed.variables, _values(straight)):
    np.testing.assert_array_equal(variable, expected, variable.name)
  other = _make(method, seed=4)
  assert any(not np.array_equal(a, b)
             for a, b in zip(_values(other), _values(_make(method, seed=3))))


@pytest.mark.parametrize('method', COSTLY)
def test_two_replicas_equal_one_on_the_same_global_batch(method):
  one = _make(method)
  two, train = fakes.on_two_replicas(lambda: _make(method))
  for step in range(2):
    batch = fakes.transition(seed=step)
    expected, found = one.train(batch).extra, train(batch)
    for name, value in expected.items():
      if name != 'effective_members':  # of a batch, not a mean over rows
        np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=1e-4,
                                   err_msg=name)
  for a, b in zip(one.variables, two.variables):
    np.testing.assert_allclose(a, b.read_value(), rtol=1e-3, atol=5e-5)


@pytest.mark.parametrize('method', METHODS)
def test_runs_in_a_driver(method):
  agent = _make(method)
  env = random_py_environment.RandomPyEnvironment(
      array_spec.BoundedArraySpec([3], np.float32, -1.0, 1.0, 'observation'),
      array_spec.BoundedArraySpec([2], np.float32, -1.0, 1.0, 'action'))
  seen = []
  policy = py_tf_eager_policy.PyTFEagerPolicy(
      agent.collect_policy, use_tf_function=False)
  py_driver.PyDriver(env, policy, [seen.append], max_steps=3).run(env.reset())
  assert len(seen) >= 3
  assert all((abs(step.action) <= 1).all() for step in seen)


@pytest.mark.parametrize('method', COSTLY)
def test_exports_what_it_does_and_what_it_knows(method, tmp_path):
  agent = _make(method)
  rng = np.random.default_rng(1)
  for variable in agent.trainable_variables:
    variable.assign_add(rng.normal(0, 0.1, variable.shape))
  folder = tmp_path / 'policy'
  exporting.export_policy(agent, str(folder))
  observation = tf.constant(fakes.arrays(6)[0])
  answer = tf.saved_model.load(str(folder)).signatures['serving_default'](
      observation=observation)
  live = greedy_policy.GreedyPolicy(agent.policy).action(
      ts.restart(observation, batch_size=6)).action
  np.testing.assert_allclose(answer['action'], live, rtol=1e-5, atol=1e-6)
  assert np.std(live, axis=0).min() > 1e-3  # not the same action everywhere
  known = not method.startswith(WITHOUT_ENSEMBLE)
  assert uncertainty_policy.knows_uncertainty(agent) == known
  assert ('q_std' in answer) == known
  if known:
    q, _ = agent.critic_network((observation, live), num_samples=64)
    assert (answer['q_std'].numpy() > 0).all()
    np.testing.assert_allclose(
        answer['q_mean'], tf.reduce_mean(q.samples, axis=[0, 2]),
        atol=4 * answer['q_std'].numpy().max())
