"""Γ beside the posterior's std, where both are known."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import data
from drvf_tf.networks import ensemble_critic_network, heads
from drvf_tf.uncertainty import last_layer, points
from tests import fakes


class _Critic:
  """One member whose ψ is the observation's first entry."""

  def __init__(self, std):
    self.head = heads.BayesianHead(1, initial_std=std)
    self.head.sample(tf.zeros([1, 1, 1]))

  def features(self, pairs):
    return pairs[0][tf.newaxis, :, :1]


def _data(values):
  rows = len(values)
  observations = np.zeros([rows, 1], np.float32)
  observations[:, 0] = values
  return data.from_arrays({
      'observations': observations, 'next_observations': observations,
      'actions': np.zeros([rows, 1]), 'rewards': np.zeros(rows),
      'terminals': np.zeros(rows, bool),
      'timeouts': np.ones(rows, bool)}, 'mine')


def _points(values):
  observations = np.array(values, np.float32)[:, np.newaxis]
  rows = len(values)
  return points.Points(
      observations, np.zeros([rows, 1], np.float32),
      np.arange(rows) >= rows // 2, observations, np.zeros(rows), '', '')


def test_ratio_and_rank_by_hand():
  # Data ψ = (±1, 1) twice each: Λ = diag(4, 4) + I, so Γ = √((x² + 1)/5);
  # σ = 0.2 on both weights: std = 0.2·√(x² + 1), 0.2·√5 times Γ everywhere.
  found = last_layer.compare(
      _Critic(0.2), _data([1, -1, 1, -1]), _points([0., 1., 2., 3.]), 100,
      np.random.default_rng(0))
  assert found['spearman'] == pytest.approx(1.0)
  assert found['std_over_gamma_in'] == pytest.approx(0.2 * 5**0.5, rel=1e-5)
  assert found['std_over_gamma_out'] == pytest.approx(0.2 * 5**0.5, rel=1e-5)


def test_a_subset_is_scaled_to_all_data():
  # Two rows of 100, doubled 50-fold: Λ = (100 + 1)·I as with all rows.
  found = last_layer.compare(
      _Critic(1.0), _data([0.0] * 100), _points([0., 0.]), 2,
      np.random.default_rng(0))
  assert found['rows'] == 2
  assert found['std_over_gamma_in'] == pytest.approx(101**0.5, rel=1e-5)


def test_a_head_without_posterior_has_no_comparison():
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      fakes.CRITIC_SPEC, num_members=2, head=heads.PointHead)
  found = last_layer.compare(critic, _data([0.0]), _points([0., 1.]), 10,
                             np.random.default_rng(0))
  assert list(found) == ['absent']
  assert 'PointHead has no Bayesian last layer' in found['absent']
