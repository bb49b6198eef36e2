"""Rank correlation, distances and returns against numbers made by hand."""
import numpy as np
import pytest

from drvf_tf.uncertainty import ranks_and_distances as rd


def test_spearman_looks_at_order_alone():
  assert rd.spearman(np.array([1., 2., 3.]), np.array([1., 10., 1e6])) == 1.0
  assert rd.spearman(np.array([1., 2., 3.]), np.array([5., 0., -9.])) == -1.0
  # Ranks 1 2 3 4 against 2 1 4 3: 1 − 6·4/(4·15).
  assert rd.spearman(np.array([1., 2., 3., 4.]),
                     np.array([0.2, 0.1, 0.4, 0.3])) == pytest.approx(0.6)


def test_spearman_ties_share_their_mean_rank():
  # Ranks 1.5 1.5 3 4 against 1 2 3 4: 4.5 / √(4.5 · 5).
  assert rd.spearman(np.array([7., 7., 8., 9.]), np.array([1., 2., 3., 4.])
                     ) == pytest.approx(0.9**0.5)


def test_spearman_of_a_constant_is_nan():
  assert np.isnan(rd.spearman(np.ones(3), np.array([1., 2., 3.])))


@pytest.mark.parametrize('chunk', [1, 2, 10])
def test_nearest_distances(chunk):
  points = np.array([[0., 0.], [3., 4.], [10., 0.]])
  queries = np.array([[0., 1.], [3., 4.], [9., 0.]])
  np.testing.assert_allclose(
      rd.nearest_distances(queries, points, chunk=chunk), [1, 0, 1])


@pytest.mark.parametrize('chunk', [1, 2, 10])
def test_a_point_is_not_its_own_neighbour(chunk):
  points = np.array([[0., 0.], [3., 4.], [10., 0.]])
  np.testing.assert_allclose(
      rd.nearest_distances(points[[2, 0, 1]], points, np.array([2, 0, 1]),
                           chunk=chunk), [65**0.5, 5, 5])


def test_distances_far_from_the_origin_keep_their_digits():
  points = np.array([[1e4, 0.], [0., 0.]])
  found = rd.nearest_distances(np.array([[1e4 + 1e-3, 0.]]), points)
  assert found[0] == pytest.approx(1e-3, rel=1e-6)


def test_returns_to_go_stop_at_an_episodes_end():
  returns = rd.returns_to_go(
      np.array([1., 2., 4., 8.]), np.array([False, True, False, True]), 0.5)
  np.testing.assert_allclose(returns, [2, 2, 8, 8])


def test_a_return_is_complete_at_terminals_and_far_from_a_cut():
  ends = np.array([False, True, False, False, True])
  terminals = np.array([False, True, False, False, False])
  # γ = 0.5: the cut of the second episode weighs 1/8, 1/4 and 1/2.
  np.testing.assert_array_equal(
      rd.complete(terminals, ends, 0.5, tolerance=0.2),
      [True, True, True, False, False])
