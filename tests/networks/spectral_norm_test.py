"""Spectral normalisation against the singular values themselves."""
import numpy as np
import tensorflow as tf

from drvf_tf.networks import dropout_critic_network, spectral_norm
from tests import fakes


def _kernels():
  return np.random.default_rng(0).normal(size=[2, 5, 3]).astype(np.float32)


def test_every_members_largest_singular_value_is_one():
  kernels = _kernels()
  folded, offset = spectral_norm.SpectralNorm(50).fold(tf.constant(kernels))
  for kernel, found in zip(kernels, folded.numpy()):
    largest = np.linalg.svd(kernel, compute_uv=False)[0]
    np.testing.assert_allclose(found, kernel / largest, rtol=1e-3)
  np.testing.assert_array_equal(offset, np.zeros([2, 1, 3]))


def test_the_gradient_takes_the_vectors_as_given():
  kernels = tf.Variable(_kernels())
  with tf.GradientTape() as tape:  # one iteration: where they still move
    sigma = spectral_norm.largest_singular_value(kernels, 1)
  found = tape.gradient(sigma, kernels)
  for kernel, value, gradient in zip(kernels.numpy(), sigma, found.numpy()):
    u = kernel @ np.ones(3)
    u /= np.linalg.norm(u)
    v = u @ kernel
    v /= np.linalg.norm(v)
    np.testing.assert_allclose(value, [[u @ kernel @ v]], rtol=1e-5)
    np.testing.assert_allclose(gradient, np.outer(u, v), rtol=1e-4, atol=1e-6)


def test_a_critic_with_it_is_lipschitz_whatever_its_kernels():
  critic = dropout_critic_network.DropoutCriticNetwork(
      fakes.CRITIC_SPEC, rate=0.0, spectral_norm=True, num_members=2,
      hidden_units=(8, 8), seed=0)
  observations, actions, *_ = map(tf.constant, fakes.arrays(64))
  critic((observations, actions))
  for variable in critic.trainable_variables:
    variable.assign_add(
        np.random.default_rng(1).normal(0, 3, variable.shape))
  slopes = critic.action_gradients((observations, actions))
  assert 0.01 < np.linalg.norm(slopes, axis=-1).max() < 1.1
  q, _ = critic((observations, actions))
  near, _ = critic((observations, actions + 1e-2))
  assert np.abs(near.mean - q.mean).max() < 1.1e-2 * np.sqrt(2)
