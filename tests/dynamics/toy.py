"""A linear-Gaussian MDP, of which everything is known."""
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec

from drvf_tf.data import offline_dataset
from drvf_tf.dynamics import model_fit
from drvf_tf.networks import actor_network

# s' = A s + B a + ε, r = c·s + ε_r; ε of these standard deviations.
A = np.array([[0.9, 0.2], [-0.1, 0.8]])
B = np.array([[0.3], [0.5]])
C = np.array([1.0, -0.5])
STD = np.array([0.05, 0.2, 0.1])  # of s'_0, s'_1 and r


def step(states, actions, rng):
  """True next states and rewards."""
  noise = rng.normal(size=[len(states), 3]) * STD
  return (states @ A.T + actions @ B.T + noise[:, :2],
          states @ C + noise[:, 2])


def dataset(rows=4_000, length=50, seed=0):
  """Episodes of uniform actions that time out."""
  rng = np.random.default_rng(seed)
  episodes = rows // length
  states, found = rng.normal(size=[episodes, 2]), []
  for _ in range(length):
    actions = rng.uniform(-1, 1, size=[episodes, 1])
    following, rewards = step(states, actions, rng)
    found.append(np.concatenate(
        [states, actions, rewards[:, None], following], axis=1))
    states = following
  table = np.stack(found, axis=1).reshape(rows, 6).astype(np.float32)
  return offline_dataset.OfflineDataset(
      observations=table[:, :2], actions=table[:, 2:3], rewards=table[:, 3],
      next_observations=table[:, 4:], terminals=np.zeros(rows, bool),
      episode_ends=np.arange(1, rows + 1) % length == 0, name='toy',
      action_low=np.array([-1.0], np.float32),
      action_high=np.array([1.0], np.float32))


def fit(**settings):
  """A small fit."""
  return model_fit.ModelFit(**{
      'num_members': 3, 'num_elites': 2, 'hidden_units': (32, 32),
      'weight_decay': (1e-5, 1e-5, 1e-5), 'steps_per_epoch': 600,
      'max_epochs': 4, 'window': 10, **settings})


def run(data, settings=None, folder=None, seed=0):
  """The model of a fit."""
  settings = settings or fit()
  with tempfile.TemporaryDirectory() as temporary:
    return settings.run(data, settings.identity(data, seed),
                        folder or pathlib.Path(temporary))


def actor(seed=3):
  """A policy that does something, and not the same everywhere."""
  network = actor_network.tanh_gaussian_actor(
      tensor_spec.TensorSpec([2], tf.float32),
      tensor_spec.BoundedTensorSpec([1], tf.float32, -1.0, 1.0),
      hidden_units=(8,), head_range=0.5, seed=seed)
  network.create_variables()
  return network
