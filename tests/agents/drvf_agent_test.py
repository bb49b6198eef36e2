"""DRVFAgent among TF-Agents' drivers, learners, strategies, checkpoints."""
import functools

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import dynamic_step_driver, py_driver
from tf_agents.environments import random_py_environment, tf_py_environment
from tf_agents.policies import py_tf_eager_policy
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec, tensor_spec
from tf_agents.train import learner
from tf_agents.trajectories import trajectory

from drvf_tf.losses import constraints
from drvf_tf.networks import heads
from tests import fakes


def _weights(agent):
  return [v.numpy() for v in agent.variables]


def test_trains_from_transitions_and_moves_every_variable():
  agent = fakes.drvf()
  before = [v.numpy() for v in agent.trainable_variables]
  info = agent.train(fakes.transition())
  assert all(np.isfinite(v) for v in info.extra.values())
  for variable, old in zip(agent.trainable_variables, before):
    assert not np.array_equal(variable, old), variable.name
  assert int(agent.train_step_counter) == 1


def test_what_acts_is_the_actors_average():
  agent = fakes.drvf(acting_tau=0.25, optimizer=functools.partial(
      tf.keras.optimizers.legacy.Adam, 0.1))
  plain = fakes.drvf(optimizer=functools.partial(
      tf.keras.optimizers.legacy.Adam, 0.1))
  average = [v.numpy() for v in agent.actor_network.variables]
  for _ in range(3):
    agent.train(fakes.transition())
    plain.train(fakes.transition())
    average = [0.75 * old + 0.25 * new.numpy() for old, new in zip(
        average, agent.actor_network.variables)]
  for acting, expected, actor, same in zip(
      agent.acting_network.variables, average,
      agent.actor_network.variables, plain.actor_network.variables):
    np.testing.assert_allclose(acting, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(actor, same)  # training does not know it
  acts = {id(v) for v in agent.policy.variables()}
  assert acts == {id(v) for v in agent.acting_network.variables}
  assert plain.acting_network is plain.actor_network


@pytest.mark.parametrize('tau', [0.0, -0.1, 1.5])
def test_an_average_that_cannot_follow_is_refused(tau):
  with pytest.raises(ValueError, match='acting_tau must be above 0'):
    fakes.drvf(acting_tau=tau)


def test_trajectories_of_two_steps_give_the_same_step():
  observations, actions, rewards, discounts, next_observations = fakes.arrays()
  pair = lambda a, b: tf.constant(np.stack([a, b], axis=1))  # noqa: E731
  experience = trajectory.Trajectory(
      step_type=tf.ones([8, 2], tf.int32),
      observation=pair(observations, next_observations),
      action=pair(actions, actions), policy_info=(),
      next_step_type=tf.ones([8, 2], tf.int32),
      reward=pair(rewards, rewards), discount=pair(discounts, discounts))
  one, other = fakes.drvf(), fakes.drvf()
  one.train(fakes.transition())
  other.train(experience)
  for a, b in zip(_weights(one), _weights(other)):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def _steps(agent, first, last):
  train = tf.function(agent.train)
  for step in range(first, last):
    train(fakes.transition(seed=step))


def test_same_seed_gives_identical_weights():
  runs = []
  for seed in (1, 1, 2):
    agent = fakes.drvf(seed=seed)
    _steps(agent, 0, 20)
    runs.append(_weights(agent))
  for a, b in zip(runs[0], runs[1]):
    np.testing.assert_array_equal(a, b)
  assert any(not np.array_equal(a, b) for a, b in zip(runs[0], runs[2]))


def test_a_checkpoint_resumes_exactly(tmp_path):
  straight = fakes.drvf(seed=3)
  _steps(straight, 0, 10)
  first = fakes.drvf(seed=3)
  _steps(first, 0, 6)
  path = tf.train.Checkpoint(agent=first).write(str(tmp_path / 'checkpoint'))
  second = fakes.drvf(seed=3)
  _steps(second, 0, 1)  # creates optimizer slots, at other values
  tf.train.Checkpoint(agent=second).read(path).assert_consumed()
  _steps(second, 6, 10)
  for variable, expected in zip(second.variables, _weights(straight)):
    np.testing.assert_array_equal(variable, expected, variable.name)
  slots = lambda agent: [v.numpy() for v in agent._critic_optimizer.variables()]  # noqa: E731
  for a, b in zip(slots(second), slots(straight)):
    np.testing.assert_array_equal(a, b)


def test_target_and_online_share_no_variable():
  agent = fakes.drvf()
  assert not ({id(v) for v in agent.critic_network.variables}
              & {id(v) for v in agent.target_critic_network.variables})


@pytest.mark.parametrize('arguments', [
    {'ood_batch_size': None}, {'ood_batch_size': 4},
    {'actor_constraint': functools.partial(
        constraints.behaviour_cloning, weight=2.0, value_scale=0.1)}])
def test_two_replicas_equal_one_on_the_same_global_batch(arguments):
  make = functools.partial(fakes.drvf, **arguments)
  one, (two, train) = make(), fakes.on_two_replicas(make)
  for step in range(3):
    batch = fakes.transition(seed=step)
    expected, found = one.train(batch).extra, train(batch)
    for key in ('td_loss', 'kl', 'repulsion', 'critic_loss', 'actor_loss',
                'alpha_loss', 'q_data', 'temperature'):
      np.testing.assert_allclose(found[key], expected[key],
                                 rtol=2e-4, atol=1e-5, err_msg=key)
  for a, b in zip(one.variables, two.variables):
    np.testing.assert_allclose(a, b.read_value(), rtol=2e-4, atol=2e-5)


def test_runs_in_tf_agents_learner(tmp_path):
  agent = fakes.drvf()
  # `Learner` wants (experience, info) pairs; a Transition is an experience.
  dataset = lambda: tf.data.Dataset.from_tensors(  # noqa: E731
      (fakes.transition(), ())).repeat()
  runner = learner.Learner(
      str(tmp_path), agent.train_step_counter, agent,
      experience_dataset_fn=dataset, checkpoint_interval=5)
  info = runner.run(iterations=5)
  assert np.isfinite(info.loss)
  assert all(v.shape == [] for v in info.extra.values())
  assert int(agent.train_step_counter) == 5


def test_collects_with_drivers_and_trains_on_what_they_collect():
  py_env = random_py_environment.RandomPyEnvironment(
      array_spec.BoundedArraySpec([3], np.float32, -1.0, 1.0, 'observation'),
      array_spec.BoundedArraySpec([2], np.float32, -1.0, 1.0, 'action'))
  env = tf_py_environment.TFPyEnvironment(py_env)
  agent = fakes.drvf()
  buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(
      agent.collect_data_spec, batch_size=1, max_length=100)
  dynamic_step_driver.DynamicStepDriver(
      env, agent.collect_policy, [buffer.add_batch], num_steps=20).run()
  experience, _ = next(iter(buffer.as_dataset(
      sample_batch_size=8, num_steps=2)))
  assert np.isfinite(agent.train(experience).loss)

  seen = []
  policy = py_tf_eager_policy.PyTFEagerPolicy(
      agent.collect_policy, use_tf_function=True)
  py_driver.PyDriver(py_env, policy, [seen.append], max_steps=10).run(
      py_env.reset())
  assert len(seen) >= 10


@pytest.mark.parametrize('kwargs, match', [
    (dict(num_members=0), 'num_members'),
    (dict(num_samples=0), 'num_samples'),
    (dict(eta_q=-1.0), 'eta_q'),
    (dict(eta_ood=-1.0), 'eta_ood'),
    (dict(num_ood_actions=0), 'num_ood_actions'),
    (dict(ood_batch_size=0), 'ood_batch_size'),
    (dict(num_batches=0.0), 'num_batches')])
def test_bad_values_are_named(kwargs, match):
  with pytest.raises(ValueError, match=match):
    fakes.drvf(**kwargs)


@pytest.mark.parametrize('spec, match', [
    (tensor_spec.BoundedTensorSpec([2], tf.int32, 0, 3), 'continuous'),
    (tensor_spec.TensorSpec([2], tf.float32), 'bounded'),
    (tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, np.inf), 'bounded'),
    ((fakes.ACTION_SPEC, fakes.ACTION_SPEC), 'one vector')])
def test_bad_action_specs_are_named(spec, match, monkeypatch):
  monkeypatch.setattr(fakes, 'ACTION_SPEC', spec)
  with pytest.raises(ValueError, match=match) as error:
    from drvf_tf.agents import ensemble_sac_agent
    ensemble_sac_agent.EnsembleSacAgent(
        fakes.TIME_STEP_SPEC, spec, None, None, None, None, None)
  assert 'action_spec' in str(error.value)


@pytest.mark.parametrize('where', ['observation', 'action', 'reward',
                                   'next observation'])
def test_a_nan_batch_is_named(where):
  agent = fakes.drvf()
  with pytest.raises(tf.errors.InvalidArgumentError,
                     match=f'The {where} of the experience'):
    agent.train(fakes.transition_with_nan(where))


def test_a_point_head_is_one_row_of_the_table():
  from drvf_tf.agents import ensemble_sac_agent
  from drvf_tf.networks import actor_network, ensemble_critic_network
  adam = lambda: tf.keras.optimizers.legacy.Adam(1e-3)  # noqa: E731
  agent = ensemble_sac_agent.EnsembleSacAgent(
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC,
      ensemble_critic_network.EnsembleCriticNetwork(
          fakes.CRITIC_SPEC, 4, (8,), head=heads.PointHead),
      actor_network.tanh_gaussian_actor(
          fakes.OBSERVATION_SPEC, fakes.ACTION_SPEC, (8,)),
      adam(), adam(), adam())
  info = agent.train(fakes.transition())
  assert np.isfinite(info.loss)
  assert float(info.extra['posterior_std']) == 0.0


def test_q_starts_where_the_data_say():
  agent = fakes.drvf(initial_value=lambda dataset, gamma: dataset * gamma,
                     gamma=0.5, reward_scale_factor=3.0)
  observations, actions, *_ = fakes.arrays()
  pairs = (tf.constant(observations), tf.constant(actions))
  networks = agent.critic_network, agent.target_critic_network
  before = [net(pairs, num_samples=2, seed=[1, 2])[0] for net in networks]
  agent.begin(8.0)  # 8 · 0.5 · 3 = 12
  for network, old in zip(networks, before):
    new = network(pairs, num_samples=2, seed=[1, 2])[0]
    np.testing.assert_allclose(new.samples, old.samples + 12.0, rtol=1e-5)
    np.testing.assert_allclose(new.mean, old.mean + 12.0, rtol=1e-5)
    np.testing.assert_allclose(new.variance, old.variance)
  assert not any(v is network.prior_mean for network in networks
                 for v in agent.trainable_variables)
