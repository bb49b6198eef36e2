"""Batches: stateless, uniform, right."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import data
from drvf_tf.data import transforms


@pytest.fixture(name='dataset')
def _dataset(arrays):
  return data.from_arrays(arrays, 'mine', task='hopper-medium-v2')


def _flat(batch):
  return [np.array(part) for part in tf.nest.flatten(batch)]


def test_rows_are_the_datasets(dataset):
  sampler = data.TransitionSampler(dataset, batch_size=64, seed=1)
  step = tf.constant(5, tf.int64)
  rows = sampler.indices(step).numpy()
  batch = sampler(step)
  np.testing.assert_array_equal(
      batch.time_step.observation, dataset.observations[rows])
  np.testing.assert_array_equal(
      batch.action_step.action, dataset.actions[rows])
  np.testing.assert_array_equal(
      batch.next_time_step.reward, dataset.rewards[rows])
  np.testing.assert_array_equal(
      batch.next_time_step.observation, dataset.next_observations[rows])
  np.testing.assert_array_equal(
      batch.next_time_step.discount, 1. - dataset.terminals[rows])
  np.testing.assert_array_equal(
      batch.next_time_step.is_last(), dataset.terminals[rows])
  assert {part.dtype for part in _flat(batch)} == {
      np.dtype(np.float32), np.dtype(np.int32)}


def test_next_actions_come_where_they_are_asked_for(dataset):
  asked = transforms.next_actions(dataset)
  sampler = data.TransitionSampler(asked, batch_size=64, seed=1)
  step = tf.constant(5, tf.int64)
  batch, rows = sampler(step), sampler.indices(step).numpy()
  np.testing.assert_array_equal(
      batch.action_step.info['next_action'], asked.next_actions[rows])
  np.testing.assert_array_equal(
      batch.next_time_step.observation, asked.next_observations[rows])
  assert sampler.dataset.hash() == asked.hash()
  plain = data.TransitionSampler(dataset, batch_size=64, seed=1)
  assert plain(step).action_step.info == ()


def test_the_rows_are_held_once(dataset):
  sampler = data.TransitionSampler(dataset, batch_size=64, seed=1)
  views = sampler.dataset
  assert views.hash() == dataset.hash()
  buffer = np.asarray(memoryview(sampler._rows))
  for name in ('observations', 'actions', 'rewards', 'next_observations'):
    assert np.shares_memory(getattr(views, name), buffer), name


def test_a_step_gives_its_batch_in_and_out_of_the_graph(dataset):
  sampler = data.TransitionSampler(dataset, batch_size=8, seed=1)
  compiled = tf.function(sampler)
  for number in (3, 0, 3):
    step = tf.constant(number, tf.int64)
    for a, b in zip(_flat(sampler(step)), _flat(compiled(step))):
      np.testing.assert_array_equal(a, b)
  first, second = (sampler.indices(tf.constant(s, tf.int64)).numpy().tolist()
                   for s in (0, 1))
  assert first != second
  other = data.TransitionSampler(dataset, batch_size=8, seed=2)
  assert other.indices(tf.constant(0, tf.int64)).numpy().tolist() != first


def test_draws_are_uniform(dataset):
  sampler = data.TransitionSampler(dataset, batch_size=256, seed=0)
  rows = np.concatenate([sampler.indices(tf.constant(s, tf.int64)).numpy()
                         for s in range(100)])
  counts = np.bincount(rows, minlength=dataset.size)
  expected = len(rows) / dataset.size
  chi_square = ((counts - expected)**2 / expected).sum()
  assert chi_square < 24.3  # 7 degrees of freedom, p = 0.001
