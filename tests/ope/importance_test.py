"""IS, WIS and DR against numbers computed by hand."""
import numpy as np
import pytest

from drvf_tf.ope import importance

# Two episodes of two steps. Ratios (2, 3) and (1, 0.5): w = (2, 6), (1, 0.5).
_REWARDS = np.array([[1., 2.], [4., 8.]])
_LOGS = np.log([[2., 3.], [1., 0.5]])


def test_importance_sampling():
  # ((2·1 + 0.5·6·2) + (1·4 + 0.5·0.5·8)) / 2 = (8 + 6) / 2
  assert importance.importance_sampling(_REWARDS, _LOGS, 0.5) == (
      pytest.approx(7.0))


def test_weighted_importance_sampling():
  # (2·1 + 1·4) / 3 + 0.5 (6·2 + 0.5·8) / 6.5
  expected = 2 + 0.5 * 16 / 6.5
  assert importance.weighted_importance_sampling(
      _REWARDS, _LOGS, 0.5) == pytest.approx([expected])


def test_a_bootstrap_sample_is_the_estimate_of_its_episodes():
  counts = np.array([[2., 0.], [0., 2.], [1., 1.]])
  found = importance.weighted_importance_sampling(
      _REWARDS, _LOGS, 0.5, counts)
  assert found == pytest.approx([2.0, 8.0, 2 + 0.5 * 16 / 6.5])


def test_doubly_robust():
  q = np.array([[1., 1.], [2., 3.]])
  v = np.array([[5., 4., 0.], [6., 2., 8.]])  # the first ended, one was cut
  # Corrections: (2·0 + 1·2)/3 and 0.5 (6·1 + 0.5·5)/6.5; values: (5 + 6)/2,
  # 0.5 (2·4 + 1·2)/3 and 0.25 (6·0 + 0.5·8)/6.5.
  expected = 2 / 3 + 0.5 * 8.5 / 6.5 + 5.5 + 0.5 * 10 / 3 + 0.25 * 4 / 6.5
  assert importance.weighted_doubly_robust(
      _REWARDS, _LOGS, q, v, 0.5) == pytest.approx([expected])


def test_a_true_model_needs_no_weights():
  # r = Q − γV: every correction telescopes, whatever the weights are.
  rng = np.random.default_rng(0)
  v = np.concatenate([np.full([6, 4], 3.0), np.zeros([6, 1])], axis=1)
  rewards = v[:, :-1] - 0.9 * v[:, 1:]
  logs = rng.normal(size=[6, 4])
  assert importance.weighted_doubly_robust(
      rewards, logs, v[:, :-1], v, 0.9) == pytest.approx([3.0])


def test_effective_sample_size():
  assert importance.effective_sample_size(np.zeros(5)) == pytest.approx(5)
  # (1 + 3)² / (1 + 9)
  assert importance.effective_sample_size(
      np.log([1., 3.]) - 2_000) == pytest.approx(1.6)


def test_weights_beyond_floating_point_are_an_estimate_still():
  logs = np.array([[-2_000., -2_000.], [-5_000., 0.]])
  found = importance.weighted_importance_sampling(
      _REWARDS, logs, 0.5, np.array([[1., 1.], [0., 2.]]))
  assert found == pytest.approx([2.0, 8.0])
