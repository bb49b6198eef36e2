"""Member by member or stacked, an ensemble computes the same."""
import functools

import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.networks import (
  dropout_critic_network,
  ensemble_critic_network,
  heads,
  prior_critic_network,
)
from drvf_tf.policies import checking, exporting, lite, reload_check
from tests import fakes
from tests.policies import conftest


def _agents(**kwargs):
  return [fakes.drvf(stacked=stacked, **kwargs) for stacked in (False, True)]


def _assert_same(ours, theirs, what=''):
  np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=what)


def _assert_same_steps(agents, trains):
  """Losses of three steps, and all that Adam leaves behind."""
  for step in range(3):
    one, other = (train(fakes.transition(seed=step)) for train in trains)
    for name in one:
      _assert_same(one[name], other[name], name)
  for ours, theirs in zip(*(agent.variables for agent in agents)):
    _assert_same(ours.numpy(), theirs.numpy(), ours.name)
  for ours, theirs in zip(*(agent._critic_optimizer.variables()
                            for agent in agents)):
    _assert_same(ours.numpy(), theirs.numpy(), ours.name)  # m: the gradients


def _extra(agent):
  train = tf.function(agent.train)
  return lambda batch: train(batch).extra


@pytest.mark.parametrize('layer_norm', [False, True])
def test_three_steps(layer_norm):
  agents = _agents(layer_norm=layer_norm)
  _assert_same_steps(agents, [_extra(agent) for agent in agents])


@pytest.mark.parametrize('make', [
    ensemble_critic_network.EnsembleCriticNetwork,
    functools.partial(ensemble_critic_network.EnsembleCriticNetwork,
                      head=heads.PointHead, norm_before_activation=True),
    functools.partial(ensemble_critic_network.EnsembleCriticNetwork,
                      hidden_units=(), layer_norm=False),
    dropout_critic_network.DropoutCriticNetwork,
    prior_critic_network.PriorCriticNetwork])
def test_every_critic_and_its_derivatives(make):
  settings = {'num_members': 3, 'hidden_units': (8, 8), 'layer_norm': True,
              'seed': 0, **getattr(make, 'keywords', {})}
  observations, actions, *_ = fakes.arrays(6)
  pairs = tf.constant(observations), tf.constant(actions)
  sets = [pairs, tuple(part[:4] for part in pairs)]

  def numbers(stacked):
    critic = getattr(make, 'func', make)(
        fakes.CRITIC_SPEC, stacked=stacked, **settings)
    critic.create_variables()

    @tf.function(autograph=False)
    def run():
      with tf.GradientTape() as tape:
        values = critic.evaluate(sets, 3, seed=tf.constant([1, 2]))
        slopes = critic.action_gradients(pairs)
        value = tf.reduce_sum(slopes**2) + tf.add_n(
            [tf.reduce_sum(tf.sin(part)) for q in values for part in q])
      gradients = tape.gradient(value, critic.trainable_variables,
                                unconnected_gradients='zero')
      return [*tf.nest.flatten(values), slopes, critic.features(pairs),
              *gradients]

    return run()

  for ours, theirs in zip(numbers(False), numbers(True)):
    _assert_same(ours, theirs)


def test_three_steps_on_two_replicas():
  made = [fakes.on_two_replicas(functools.partial(fakes.drvf, stacked=stacked))
          for stacked in (False, True)]
  _assert_same_steps(*zip(*made))


def test_exports(tmp_path):
  dataset = conftest.make_dataset()
  members, stacked = _agents()
  for agent in (members, stacked):  # weights that do not start near 0
    rng = np.random.default_rng(1)
    for network in (agent.actor_network, agent.critic_network):
      for variable in network.variables:
        variable.assign_add(rng.normal(0, 0.2, variable.shape))
  inputs = checking._inputs(dataset, 100, seed=0)
  for agent, other in ((members, stacked), (stacked, members)):
    folder = str(tmp_path / f'stacked_{agent is stacked}')
    exporting.export_policy(
        agent, folder, dataset, config='TASK = 1\n', facts={})
    expected = checking.live(other, dataset, inputs)
    for functions in (
        reload_check.saved_model(folder),
        reload_check.tflite(str(lite.write(folder, folder + '_lite')))):
      found = reload_check.answers(functions, inputs)
      assert 'q_stats/q_std' in found
      for name in set(found) & set(expected):
        _assert_same(found[name], expected[name], name)


@pytest.mark.parametrize('members, width, stacked', [
    (5, 128, True), (5, 256, False), (50, 256, False), (500, 256, True)])
def test_the_form_is_chosen_by_width_and_by_many_members(
    members, width, stacked):
  """By what is held of each layer: one array for all, or one a member."""
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      fakes.CRITIC_SPEC, num_members=members, hidden_units=(width, 8))
  rows = critic._shared(fakes.arrays(4)[:2])
  assert isinstance(rows, list) is not stacked
