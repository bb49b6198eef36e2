"""What stops a run, and what warns."""
import pytest
from absl import logging

from drvf_tf.train import errors, guard


@pytest.mark.parametrize('metrics', [
    {'td_loss': float('nan')}, {'td_loss': float('inf')},
    {'q_data': -2e3}, {'q_policy': 2e3}])
def test_divergence_is_named(metrics):
  with pytest.raises(errors.DivergedError, match=next(iter(metrics))):
    guard.Guard(max_abs_q=1e3).check(metrics, step=5)


def test_a_collapsed_ensemble_warns_once(monkeypatch):
  warnings = []
  monkeypatch.setattr(logging, 'warning', lambda *args: warnings.append(args))
  watch = guard.Guard(min_effective_members=2.0)
  watch.check({'effective_members': 3.0, 'q_data': 1.0}, step=5)
  assert not warnings
  for step in (10, 15):
    watch.check({'effective_members': 1.5, 'q_data': 1.0}, step=step)
  assert len(warnings) == 1
  assert 'collapsed' in warnings[0][0]
