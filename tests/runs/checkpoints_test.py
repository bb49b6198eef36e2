"""Checkpoints: whole, verified, the last k and the best."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.runs import checkpoints


def _make(folder, keep=2):
  variable = tf.Variable([0.0, 0.0])
  return variable, checkpoints.Checkpoints(folder, keep, weights=variable)


def test_restores_weights_and_state(tmp_path):
  variable, saved = _make(tmp_path)
  variable.assign([1.0, 2.0])
  saved.save(10, {'window': {'a': 1 / 3}})
  other, fresh = _make(tmp_path)
  assert fresh.steps() == [10]
  assert fresh.restore(10) == {'window': {'a': 1 / 3}}
  np.testing.assert_array_equal(other.numpy(), [1.0, 2.0])


def test_keeps_the_last_and_the_best(tmp_path):
  variable, saved = _make(tmp_path)
  for step, score in ((10, 5.0), (20, 9.0), (30, 7.0), (40, 8.0)):
    variable.assign([step, step])
    saved.save(step, {})
    saved.offer_best(step, score)
  assert saved.steps() == [30, 40]
  assert saved.best_score() == 9.0
  best = tf.train.Checkpoint(weights=variable)
  best.read(str(tmp_path / 'best' / 'ckpt')).assert_consumed()
  assert variable.numpy()[0] == 20


def test_a_checkpoint_with_nan_is_never_written(tmp_path):
  variable, saved = _make(tmp_path)
  saved.save(10, {})
  variable.assign([1.0, np.nan])
  with pytest.raises(errors.DivergedError, match='NaN'):
    saved.save(20, {})
  assert saved.steps() == [10]


@pytest.mark.parametrize('name', ['ckpt.data-00000-of-00001', 'ckpt.index',
                                  'state.json'])
def test_a_damaged_checkpoint_is_named_with_its_cure(tmp_path, name):
  _, saved = _make(tmp_path)
  saved.save(10, {})
  saved.save(20, {})
  path = tmp_path / 'step_000000020'
  (path / name).write_bytes(b'broken')
  with pytest.raises(errors.UserError) as error:
    saved.restore(20)
  assert str(path) in str(error.value)
  assert 'goes on from step 10' in str(error.value)


def test_a_failed_write_leaves_the_last_good_one(tmp_path, monkeypatch):
  _, saved = _make(tmp_path)
  saved.save(10, {})

  def full(*_):
    raise OSError(28, 'No space left on device')

  monkeypatch.setattr(checkpoints, '_sha256', full)
  with pytest.raises(OSError):
    saved.save(20, {})
  assert [path.name for path in tmp_path.iterdir()] == ['step_000000010']


def test_what_a_kill_left_behind_is_not_taken_for_a_checkpoint(tmp_path):
  _, saved = _make(tmp_path)
  (tmp_path / '.step_10.new').mkdir()
  assert saved.steps() == []
  saved.save(10, {})
  assert saved.steps() == [10]
