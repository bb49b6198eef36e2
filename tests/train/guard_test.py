"""What stops a run, and what warns."""
import pytest

from drvf_tf import errors
from drvf_tf.train import guard, monitors


@pytest.mark.parametrize('metrics', [
    {'td_loss': float('nan')}, {'td_loss': float('inf')},
    {'q_data': -2e3}, {'q_policy': 2e3}])
def test_divergence_is_named(metrics):
  with pytest.raises(errors.DivergedError, match=next(iter(metrics))):
    guard.Guard(max_abs_q=1e3).check(metrics)


_YARDSTICK = monitors.Yardstick(
    mean_return=50.0, lowest=-10.0, highest=100.0, reward=1.0, members=5,
    draws=10)
_HEALTHY = {'effective_members': 3.0, 'sigma_share': 0.3, 'q_data': 60.0,
            'target_penalty': 0.4}


@pytest.mark.parametrize('sick, words', [
    ({'effective_members': 1.01}, 'differ in 1.01 directions'),
    ({'sigma_share': 0.001},
     'the 10 draws of a member coincide (σ has 0.1 % of the variance of Q): '
     'the minimum of 50 samples is one of 5'),
    ({'q_data': 120.0}, 'Q on data is 120, above the 100 that the data'),
    ({'q_data': -12.0}, 'Q on data is -12, below the -10 that the data'),
    ({'target_penalty': 1.5},
     'the target subtracts 1.5 a step where rewards are of size 1:')])
def test_what_is_wrong_is_said_once_in_words(sick, words):
  said = []
  watch = guard.Guard(grace_steps=10)
  watch.review({**_HEALTHY, **sick}, _YARDSTICK, 5, said.append)  # too early
  watch.review(_HEALTHY, _YARDSTICK, 10, said.append)
  assert not said
  for step in (20, 30):
    watch.review({**_HEALTHY, **sick}, _YARDSTICK, step, said.append)
  assert len(said) == 1
  assert said[0].startswith('Warning, step 20: ') and words in said[0]


def test_methods_without_values_are_not_judged():
  said = []
  guard.Guard(grace_steps=0).review({'loss': 1.0}, None, 10, said.append)
  assert not said
