"""What the report says of a model, by hand."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf.dynamics import dynamics_ensemble, measures, model_rows
from tests.dynamics import toy


def _prediction(mean, std):
  return dynamics_ensemble.Prediction(
      np.array(mean, np.float32), np.array(std, np.float32))


def test_coverage_of_one_gaussian():
  # z of 0, 0.6, 1.5 and 3: inside 50 % (0.674), 80 % (1.28), 90 % (1.64).
  targets = np.array([[0.0], [1.2], [-3.0], [6.0]], np.float32)
  found = measures.coverage(
      _prediction(np.zeros([1, 4, 1]), np.full([1, 4, 1], 2.0)), targets)
  assert [float(found[level][0]) for level in (0.1, 0.5, 0.8, 0.9, 0.95)] == [
      0.25, 0.5, 0.5, 0.75, 0.75]


def test_coverage_is_the_mixture_s():
  # Halfway between two elites far apart is the median of their mixture.
  elites = _prediction([[[-9.0]], [[9.0]]], np.ones([2, 1, 1]))
  assert measures.coverage(elites, np.zeros([1, 1], np.float32))[0.1] == 1.0
  assert measures.coverage(  # and each one's middle is a quartile
      elites, np.array([[-9.0]], np.float32))[0.4] == 0.0


def test_log_likelihood_is_a_mean():
  elites = _prediction([[[0.0, 0.0]]], [[[1.0, 2.0]]])
  expected = np.mean([-0.5 * np.log(2 * np.pi) - 0.5,
                      -0.5 * np.log(2 * np.pi) - np.log(2.0)])
  assert measures.log_likelihood(
      elites, np.array([[1.0, 0.0]], np.float32)) == pytest.approx(expected)


def test_rank_correlation():
  assert measures.rank_correlation(
      np.array([1.0, 5.0, 9.0]), np.array([0.1, 0.2, 99.0])) == 1.0
  assert measures.rank_correlation(
      np.array([1.0, 5.0, 9.0]), np.array([3.0, 2.0, 1.0])) == -1.0


def test_growth_beside_what_was_recorded():
  # Recorded: s_0 rises by 1 at each step. The model says 1.5, the reward's
  # column is of no matter.
  steps = np.arange(9, dtype=np.float32)
  data = toy.dataset(rows=8, length=8).replace(
      observations=np.stack([steps[:8], 0 * steps[:8]], axis=1),
      next_observations=np.stack([steps[1:], 0 * steps[1:]], axis=1))
  model = dynamics_ensemble.DynamicsEnsemble(2, 1, 1, 1, (4,))
  arrays = model.arrays()
  arrays['kernel_1'].assign(tf.zeros_like(arrays['kernel_1']))
  arrays['target_mean'].assign([1.5, 0.0, 7.0])
  arrays['target_std'].assign([1e-6] * 3)
  split = model_rows.Split(np.arange(0), (np.arange(2, 5), np.arange(7, 8)))
  found = measures.growth(model, data, split, np.ones(3, np.float32), 0)
  unit = steps[:8].std() * np.sqrt(2)  # a mean over two dimensions
  np.testing.assert_allclose(
      found.median * unit, [0.5, 1.0, 1.5], rtol=1e-3)
  np.testing.assert_allclose(found.still * unit, [1.0, 2.0, 3.0], rtol=1e-5)
  np.testing.assert_allclose(found.low, found.high, rtol=1e-3)
