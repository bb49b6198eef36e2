"""Quantiles, AUROC and latency."""
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.benchmark import latency
from drvf_tf.policies import support, uncertainty_policy


def test_auroc_by_hand():
  assert support.auroc(np.array([0., 1.]), np.array([2., 3.])) == 1.0
  assert support.auroc(np.array([2., 3.]), np.array([0., 1.])) == 0.0
  assert support.auroc(np.array([1., 1.]), np.array([1.])) == 0.5
  # (0 > none) + (2 > 1) + (4 > 1, 3) of six pairs
  assert support.auroc(
      np.array([1., 3.]), np.array([0., 2., 4.])) == pytest.approx(0.5)


def test_quantile_out_of_range_is_named(agent, dataset):
  policy = uncertainty_policy.of_agent(agent, dataset)
  with pytest.raises(errors.UserError, match='gate_quantile must be'):
    support.measure(policy, dataset, 'rows', gate_quantile=1.5)


def test_latency_table_has_a_line_for_each_batch(agent):
  rows = latency.measure(agent, batches=(1, 8), rounds=2)
  assert [row['batch'] for row in rows] == [1, 8]
  assert len(latency.table(rows).splitlines()) == 3
