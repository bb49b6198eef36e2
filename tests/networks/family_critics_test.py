"""Critics with priors and with dropout, and gradients with respect to a."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.networks import (
  dropout_critic_network,
  ensemble_critic_network,
  heads,
  prior_critic_network,
)
from tests import fakes

SEED = tf.constant([3, 4], tf.int32)


def _make(cls=ensemble_critic_network.EnsembleCriticNetwork, **kwargs):
  kwargs = {'num_members': 3, 'hidden_units': (8, 8), 'seed': 0, **kwargs}
  critic = cls(fakes.CRITIC_SPEC, **kwargs)
  critic.create_variables()
  return critic


def _inputs(size=6):
  observations, actions, *_ = fakes.arrays(size)
  return tf.constant(observations), tf.constant(actions)


@pytest.mark.parametrize('make', [
    lambda: _make(layer_norm=True),
    lambda: _make(head=heads.PointHead),
    lambda: _make(prior_critic_network.PriorCriticNetwork)])
def test_action_gradients_are_each_members_own(make):
  critic = make()
  observations, actions = _inputs()
  gradients = critic.action_gradients((observations, actions)).numpy()
  step = 1e-2
  for k in range(2):
    shift = np.zeros([1, 2], np.float32)
    shift[0, k] = step
    ahead, behind = (
        critic((observations, actions + sign * shift))[0].mean.numpy()
        for sign in (1, -1))
    # Most rows cross no kink of a ReLU within the step.
    difference = (ahead - behind) / (2 * step)
    close = np.isclose(gradients[..., k], difference, rtol=0.02, atol=1e-4)
    assert close.mean() > 0.8, (gradients[..., k], difference)


def test_the_slope_of_the_action_gradients_reaches_the_weights():
  critic = _make(layer_norm=True)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(critic.action_gradients(_inputs())[0] ** 2)
  for variable, slope in zip(
      critic.trainable_variables,
      tape.gradient(value, critic.trainable_variables)):
    if 'kernel' in variable.name and 'hidden' in variable.name:
      assert np.abs(slope[0]).max() > 0  # member 0's
      assert np.abs(slope[1:]).max() == 0  # nobody else's


def test_priors_are_added_and_never_learn():
  critic = _make(prior_critic_network.PriorCriticNetwork, prior_scale=2.0)
  plain = _make()
  with_prior, _ = critic(_inputs(), seed=SEED)
  without, _ = plain(_inputs(), seed=SEED)
  prior, _ = critic._prior(_inputs())
  assert np.abs(prior.mean).max() > 0.01
  np.testing.assert_allclose(with_prior.mean, without.mean + 2 * prior.mean,
                             rtol=1e-4, atol=1e-6)
  np.testing.assert_allclose(
      with_prior.samples, without.samples + 2 * prior.samples, rtol=1e-4,
      atol=1e-6)
  assert len(critic.trainable_variables) == len(plain.trainable_variables)
  assert len(critic.variables) > len(plain.variables)


def test_a_copy_has_the_same_priors_in_other_variables():
  critic = _make(prior_critic_network.PriorCriticNetwork)
  copy = critic.copy(name='copy')
  copy.create_variables()
  ours, theirs = critic._prior.variables, copy._prior.variables
  assert not {id(v) for v in ours} & {id(v) for v in theirs}
  for a, b in zip(ours, theirs):
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('layer_norm', [False, True])
def test_without_dropped_units_dropout_is_the_plain_critic(layer_norm):
  critic = _make(dropout_critic_network.DropoutCriticNetwork, rate=0.0,
                 layer_norm=layer_norm)
  plain = _make(head=heads.PointHead, layer_norm=layer_norm)
  q, _ = critic(_inputs(), num_samples=4, seed=SEED)
  expected, _ = plain(_inputs())
  assert q.samples.shape == [3, 6, 4]
  for k in range(4):
    np.testing.assert_allclose(q.samples[..., k], expected.mean, rtol=1e-4,
                               atol=1e-7)
  np.testing.assert_allclose(q.variance, 0.0, atol=1e-9)


def test_a_mask_is_one_function():
  critic = _make(dropout_critic_network.DropoutCriticNetwork, rate=0.5)
  observations, actions = _inputs()
  q, _ = critic((observations, actions), num_samples=5, seed=SEED)
  # The same seed on other rows: rows have no part in the masks.
  swapped, _ = critic((observations[::-1], actions[::-1]), num_samples=5,
                      seed=SEED)
  np.testing.assert_allclose(swapped.samples[:, ::-1], q.samples, rtol=1e-4,
                             atol=1e-7)
  assert (q.variance.numpy() > 0).all()
  np.testing.assert_allclose(q.mean, q.samples.numpy().mean(axis=-1),
                             rtol=1e-4, atol=1e-7)
  others, _ = critic((observations, actions), num_samples=5, seed=SEED + 1)
  assert np.abs(others.samples - q.samples).max() > 1e-4


def test_sets_have_their_own_masks():
  critic = _make(dropout_critic_network.DropoutCriticNetwork, rate=0.5)
  first, second = critic.evaluate([_inputs(), _inputs()], 3, SEED)
  assert np.abs(first.samples - second.samples).max() > 1e-4


def test_masks_keep_the_mean_of_a_unit():
  critic = _make(dropout_critic_network.DropoutCriticNetwork, rate=0.25)
  masks = critic._masks(2_000, 8, SEED).numpy()
  np.testing.assert_allclose(np.unique(masks), [0.0, 4 / 3], rtol=1e-6)
  np.testing.assert_allclose(masks.mean(), 1.0, atol=0.02)


def test_a_rate_outside_its_range_is_named():
  with pytest.raises(ValueError, match='rate'):
    _make(dropout_critic_network.DropoutCriticNetwork, rate=1.0)
