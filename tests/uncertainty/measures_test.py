"""Coverage of the lower confidence bound, by hand."""
import types

import numpy as np
import tensorflow as tf

from drvf_tf import data
from drvf_tf.uncertainty import measures


class _Constant:
  """Says q_lcb = 10 everywhere."""
  lcb_alpha = 1.0

  def statistics(self, observation, action):
    del observation
    return {'q_lcb': tf.fill([len(action)], 10.0)}


def _run(held_out=None, terminals=(False, True, False, False)):
  states = np.zeros([4, 1], np.float32)
  dataset = data.from_arrays({
      'observations': states, 'next_observations': states,
      'actions': np.zeros([4, 1]), 'rewards': np.array([1., 2., 4., 8.]),
      'terminals': np.array(terminals),
      'timeouts': np.array([False, False, False, True])}, 'mine')
  return types.SimpleNamespace(
      agent=types.SimpleNamespace(_gamma=0.5, _reward_scale_factor=2.0),
      dataset=dataset.replace(held_out=held_out))


def test_coverage_by_hand():
  # Returns of the rewards, doubled, at γ = 0.5: 4 4 16 16. Those of the first
  # episode are complete, the second was cut.
  found = measures.coverage(
      _run(), _Constant(), 100, np.random.default_rng(0))
  assert found['all_rows'] == 0.5
  assert found['complete_returns'] == 0.0
  assert found['share_of_complete_rows'] == 0.5
  assert (found['rows'], found['gamma']) == ('trained on', 0.5)


def test_without_complete_returns_there_is_no_number():
  run = _run(terminals=(False,) * 4)
  found = measures.coverage(
      run, _Constant(), 100, np.random.default_rng(0))
  assert found['complete_returns'] is None
  assert found['all_rows'] is not None


def test_held_out_rows_are_preferred():
  aside = _run().dataset
  aside = aside.replace(rewards=aside.rewards + 100)
  found = measures.coverage(
      _run(held_out=aside), _Constant(), 100, np.random.default_rng(0))
  assert (found['rows'], found['all_rows']) == ('held out', 1.0)
