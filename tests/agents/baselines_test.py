"""The model-free baselines: what every agent fulfils, and their equations."""
import gin
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import trajectory

from drvf_tf.agents import build_baselines, periodic_adam, rebrac_agent
from drvf_tf.networks import noise
from tests import fakes

_BUILDERS = {
    'bc': (build_baselines.build_bc, {}),
    'td3_bc': (build_baselines.build_td3_bc, {}),
    'rebrac': (build_baselines.build_td3_bc, {
        'build_td3_bc.agent_class': rebrac_agent.ReBracAgent,
        'ReBracAgent.beta_1': 0.3, 'ReBracAgent.beta_2': 0.2,
        'baseline_critic.layer_norm': True}),
    'iql': (build_baselines.build_iql, {}),
    'cql': (build_baselines.build_cql, {}),
    'cql_lagrange': (build_baselines.build_cql, {
        'CqlAgent.use_lagrange_cql_alpha': True,
        'CqlAgent.cql_alpha': 5.0, 'CqlAgent.cql_tau': 1.0}),
}
_WITHOUT_CRITIC = ('bc',)
_DETERMINISTIC_STEP = ('bc', 'iql')  # nothing is drawn in a train step

every_agent = pytest.mark.parametrize(
    'name', [name for name in _BUILDERS if name != 'cql_lagrange'])
every_variant = pytest.mark.parametrize('name', _BUILDERS)


def _agent(name, seed=0, action_spec=fakes.ACTION_SPEC, **bindings):
  builder, own = _BUILDERS[name]
  for key, value in {
      'baseline_actor.hidden_units': (8, 8),
      'baseline_critic.hidden_units': (8, 8),
      'CqlAgent.num_cql_samples': 3, **own, **bindings}.items():
    gin.bind_parameter(key, value)
  return builder(fakes.TIME_STEP_SPEC, action_spec, num_batches=10.0,
                 seed=seed)


def _values(variables):
  return [v.numpy() for v in variables]


def _steps(agent, first, last):
  for step in range(first, last):
    agent.train(fakes.transition(seed=step))


@every_variant
def test_a_step_moves_every_variable_and_reports_scalars(name):
  agent = _agent(name)
  before = _values(agent.trainable_variables)
  info = agent.train(fakes.transition())
  for variable, old in zip(agent.trainable_variables, before):
    assert not np.array_equal(variable, old), variable.name
  assert int(agent.train_step_counter) == 1
  assert info.loss.shape == [] and isinstance(info.extra, dict)
  for key, value in info.extra.items():
    assert value.shape == [] and np.isfinite(value), key
  assert 'actor_loss' in info.extra
  if name not in _WITHOUT_CRITIC:
    assert {'critic_loss', 'td_loss', 'q_data'} <= set(info.extra)


@every_agent
@pytest.mark.parametrize('spec, match', [
    (tensor_spec.BoundedTensorSpec([2], tf.int32, 0, 3), 'continuous'),
    (tensor_spec.TensorSpec([2], tf.float32), 'bounded'),
    (tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, np.inf), 'bounded'),
    ((fakes.ACTION_SPEC, fakes.ACTION_SPEC), 'one vector')])
def test_bad_action_specs_are_named(name, spec, match):
  with pytest.raises(ValueError, match=match) as error:
    _agent(name, action_spec=spec)
  assert 'action_spec' in str(error.value)


@every_agent
@pytest.mark.parametrize('where', ['observation', 'action', 'reward',
                                   'next observation'])
def test_a_nan_batch_is_named(name, where):
  with pytest.raises(tf.errors.InvalidArgumentError,
                     match=f'The {where} of the experience'):
    _agent(name).train(fakes.transition_with_nan(where))


@every_agent
def test_a_nan_loss_stops_the_step(name):
  agent = _agent(name)
  agent.actor_network.trainable_variables[0].assign_add(
      tf.fill(agent.actor_network.trainable_variables[0].shape, np.nan))
  with pytest.raises(tf.errors.InvalidArgumentError, match='(?i)nan'):
    agent.train(fakes.transition())


@pytest.mark.parametrize('name, binding, value', [
    ('td3_bc', 'Td3BcAgent.alpha', -1.0),
    ('td3_bc', 'build_td3_bc.actor_update_period', 0),
    ('rebrac', 'ReBracAgent.beta_1', -0.1),
    ('rebrac', 'ReBracAgent.beta_2', -0.1),
    ('iql', 'IqlAgent.expectile', 1.0),
    ('iql', 'IqlAgent.temperature', -1.0),
    ('cql', 'CqlAgent.num_cql_samples', 0),
    ('cql', 'CqlAgent.cql_alpha', 0.0)])
def test_bad_values_are_named(name, binding, value):
  with pytest.raises(ValueError, match=binding.split('.')[1].split('_')[-1]):
    _agent(name, **{binding: value})


def test_bc_clones():
  agent = _agent('bc')
  batch = fakes.transition(size=4)
  train = tf.function(agent.train)
  first = float(train(batch).loss)
  cloned, _ = agent.actor_network(batch.time_step.observation)
  for _ in range(800):
    last = float(train(batch).loss)
  assert last < 0.3 * first
  assert np.isclose(float(agent.loss(batch).loss), last, rtol=0.1)
  assert cloned.shape == [4, 2]


def test_td3_bc_targets_by_hand():
  agent = _agent('td3_bc', seed=5)
  batch = fakes.transition()
  observation = batch.next_time_step.observation
  actions, _ = agent._target_actor_network(observation)
  drawn = noise.Draws.at_step(5, tf.constant(0, tf.int64)).normal([8, 2])
  actions = np.clip(actions + np.clip(0.2 * drawn, -0.5, 0.5), -1, 1)
  q = [target((observation, tf.constant(actions)))[0].numpy() for target in (
      agent._target_critic_network_1, agent._target_critic_network_2)]
  assert not np.allclose(*q)
  expected = (batch.next_time_step.reward
              + 0.99 * batch.next_time_step.discount * np.minimum(*q))
  np.testing.assert_allclose(
      agent._td_targets(batch), expected, rtol=1e-5, atol=1e-6)


def _rebrac_batch():
  batch = fakes.transition()
  following = tf.constant(fakes.arrays(seed=3)[1])
  return batch._replace(action_step=batch.action_step._replace(
      info={'next_action': following}))


def test_rebrac_penalises_the_target_by_the_datas_next_action():
  agent, batch = _agent('rebrac', seed=5), _rebrac_batch()
  observation = batch.next_time_step.observation
  actions, _ = agent._target_actor_network(observation)
  drawn = noise.Draws.at_step(5, tf.constant(0, tf.int64)).normal([8, 2])
  actions = np.clip(actions + np.clip(0.2 * drawn, -0.5, 0.5), -1, 1)
  q = [target((observation, tf.constant(actions)))[0].numpy() for target in (
      agent._target_critic_network_1, agent._target_critic_network_2)]
  distance = np.sum(
      (actions - batch.action_step.info['next_action'])**2, axis=1)
  expected = (batch.next_time_step.reward
              + 0.99 * batch.next_time_step.discount
              * (np.minimum(*q) - 0.2 * distance))
  np.testing.assert_allclose(
      agent._td_targets(agent._as_batch(batch)), expected,
      rtol=1e-5, atol=1e-6)


def test_rebracs_actor_climbs_the_lower_critic():
  agent, batch = _agent('rebrac'), _rebrac_batch()
  observation, actions = batch.time_step.observation, batch.action_step.action
  own, _ = agent.actor_network(observation)
  q = np.minimum(*(critic((observation, own))[0] for critic in (
      agent._critic_network_1, agent._critic_network_2)))
  expected = np.mean(0.3 * np.sum((own - actions)**2, axis=1)
                     - q / np.mean(np.abs(q)))
  found = agent.loss(batch).extra['actor_loss']
  np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_rebracs_critics_are_normalised_and_its_actor_is_not():
  agent = _agent('rebrac')
  observation, actions = fakes.transition().time_step.observation, tf.zeros(
      [8, 2])
  rows = tf.concat([observation, actions], axis=-1)
  critic = agent._critic_network_1
  hidden = critic._hidden[1](critic._hidden[0](rows)).numpy()
  np.testing.assert_allclose(hidden.mean(axis=1), 0, atol=1e-5)
  np.testing.assert_allclose(hidden.std(axis=1), 1, rtol=1e-2)
  assert len(critic.trainable_variables) == 2 * 4 + 2
  assert len(agent.actor_network.trainable_variables) == 2 * 2 + 2


def test_rebrac_says_what_it_misses():
  batch = fakes.transition()
  with pytest.raises(ValueError, match='method_transforms = \\(@next_actions'):
    _agent('rebrac').train(batch._replace(
        action_step=batch.action_step._replace(info=())))


def test_td3_bc_moves_actor_and_targets_every_second_step():
  agent = _agent('td3_bc')
  train = tf.function(agent.train)
  moved = []
  for step in range(4):
    before = [_values(n.variables) for n in (
        agent.actor_network, agent._target_critic_network_1,
        agent._critic_network_1)]
    train(fakes.transition(seed=step))
    after = [_values(n.variables) for n in (
        agent.actor_network, agent._target_critic_network_1,
        agent._critic_network_1)]
    moved.append([any(not np.array_equal(a, b) for a, b in zip(*pair))
                  for pair in zip(before, after)])
  assert moved == [[True, True, True], [False, False, True]] * 2


def test_periodic_adam_is_adam_on_every_second_gradient():
  periodic = periodic_adam.PeriodicAdam(0.1, 2)
  adam = tf.keras.optimizers.legacy.Adam(0.1)
  one, other = tf.Variable([1.0, -2.0]), tf.Variable([1.0, -2.0])
  for i in range(6):
    gradient = tf.constant([1.0 + i, -0.5 * i])
    periodic.apply_gradients([(gradient, one)])
    if i % 2 == 0:
      adam.apply_gradients([(gradient, other)])
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_iql_passes_by_hand():
  agent = _agent('iql', **{'IqlAgent.expectile': 0.8,
                           'IqlAgent.temperature': 2.0})
  step, action_step, next_step = fakes.transition()
  actions = action_step.action
  value = agent._value_network((step.observation,))[0].numpy()
  q = np.minimum(*(target((step.observation, actions))[0].numpy()
                   for target in agent._targets))
  advantage = q - value
  info = agent.loss(trajectory.Transition(step, action_step, next_step)).extra
  np.testing.assert_allclose(info['value_loss'], np.mean(np.where(
      advantage < 0, 0.2, 0.8) * advantage**2), rtol=1e-5)

  mean = agent.actor_network(step.observation)[0].mean().numpy()
  log_prob = np.sum(  # log σ starts at 0
      -0.5 * (actions - mean)**2 - 0.5 * np.log(2 * np.pi), axis=1)
  np.testing.assert_allclose(
      info['actor_loss'], -np.mean(np.exp(2 * advantage) * log_prob),
      rtol=1e-4)

  next_value = agent._value_network((next_step.observation,))[0]
  target = next_step.reward + 0.99 * next_step.discount * next_value
  online = [critic((step.observation, actions))[0] for critic in agent._critics]
  np.testing.assert_allclose(info['td_loss'], np.mean(
      (online[0] - target)**2 + (online[1] - target)**2), rtol=1e-5)


def test_iql_anneals_the_actor_alone():
  agent = _agent('iql', **{'build_iql.actor_decay_steps': 2})
  _steps(agent, 0, 2)
  before = _values(agent.actor_network.variables)
  critics = _values(agent._critics[0].variables)
  _steps(agent, 2, 3)
  for variable, old in zip(agent.actor_network.variables, before):
    np.testing.assert_array_equal(variable, old)
  assert not np.array_equal(agent._critics[0].variables[0], critics[0])


def test_cql_penalty_by_hand():
  agent = _agent('cql', seed=4)
  batch = fakes.transition()
  observation, actions = batch.time_step.observation, batch.action_step.action
  critics = (agent._critic_network_1, agent._critic_network_2)
  policy, log_pi = agent._sample_and_transpose_actions_and_log_probs(
      batch.time_step, 3)
  uniform = tf.reshape(agent._uniform_actions(8), [8, 3, 2])
  assert float(tf.reduce_min(uniform)) >= -1 and np.std(uniform) > 0.3
  expected = 0.0
  for critic in critics:
    q = lambda a, c=critic: np.stack(  # noqa: E731
        [c((observation, a[:, i]))[0] for i in range(3)], axis=1)
    terms = np.concatenate(  # the density of uniform actions is 1/4
        [q(policy) - log_pi, q(uniform) - np.log(0.25)], axis=1)
    expected += 0.5 * np.mean(np.log(np.sum(np.exp(terms), axis=1))
                              - critic((observation, actions))[0])
  info = agent.train(batch)
  np.testing.assert_allclose(info.extra['cql_loss'], expected, rtol=1e-4)
  np.testing.assert_allclose(
      info.extra['critic_loss'],
      0.5 * info.extra['td_loss'] + 10.0 * info.extra['cql_loss'], rtol=1e-5)


def test_cql_needs_equal_bounds_and_takes_them_in_any_form():
  batch = fakes.transition()
  spec = tensor_spec.BoundedTensorSpec(
      [2], tf.float32, [-1.0, -1.0], [1.0, 1.0], 'action')
  found = _agent('cql', action_spec=spec).train(batch).extra['cql_loss']
  expected = _agent('cql').train(batch).extra['cql_loss']
  np.testing.assert_allclose(found, expected, rtol=1e-6)
  with pytest.raises(ValueError, match='same bounds in all dimensions'):
    _agent('cql', action_spec=tensor_spec.BoundedTensorSpec(
        [2], tf.float32, [-1.0, -2.0], [1.0, 2.0], 'action'))


def test_cql_clones_first():
  agent = _agent('cql', **{'CqlAgent.num_bc_steps': 1})
  for variable in agent._critic_network_1.variables:
    variable.assign_add(tf.ones_like(variable))  # a large Q
  cloning, acting = (
      float(agent.train(fakes.transition()).extra['actor_loss'])
      for _ in range(2))
  assert abs(cloning - acting) > 0.1
