"""Checkpoints: whole, verified, the last k and the best."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.runs import checkpoint_files, checkpoints


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
def test_the_newest_whole_checkpoint_is_resumed(tmp_path, name):
  variable, saved = _make(tmp_path, keep=3)
  for step in (10, 20, 30):
    variable.assign([step, step])
    saved.save(step, {'of': step})
    saved.offer_best(step, float(step))
  paths = [tmp_path / 'step_000000030', tmp_path / 'step_000000020']
  for path in paths:
    (path / name).write_bytes(b'broken')
  resumed = saved.resume()
  assert resumed == checkpoints.Resumed(10, {'of': 10}, paths)
  assert variable.numpy()[0] == 10
  saved.set_aside(resumed)
  assert sorted(path.name for path in tmp_path.iterdir()) == [
      'damaged_step_000000020', 'damaged_step_000000030', 'step_000000010']
  assert saved.best_score() is None  # it shared the damaged files
  saved.save(20, {})
  assert saved.steps() == [10, 20]


def test_a_whole_checkpoint_sets_nothing_aside(tmp_path):
  _, saved = _make(tmp_path)
  assert saved.resume() is None
  saved.save(10, {})
  saved.offer_best(10, 1.0)
  saved.set_aside(saved.resume())
  assert saved.steps() == [10] and saved.best_score() == 1.0


def test_where_no_checkpoint_is_whole_the_cure_is_named(tmp_path):
  _, saved = _make(tmp_path)
  for step in (10, 20):
    saved.save(step, {})
    (tmp_path / f'step_0000000{step}' / 'ckpt.index').unlink()
  with pytest.raises(errors.UserError) as error:
    saved.resume()
  assert str(tmp_path) in str(error.value)
  assert 'step_000000020, step_000000010' in str(error.value)
  assert 'the same command starts again from step 0' in str(error.value)
  assert saved.steps() == [10, 20]


def test_a_failed_write_leaves_the_last_good_one(tmp_path, monkeypatch):
  _, saved = _make(tmp_path)
  saved.save(10, {})

  def full(*_):
    raise OSError(28, 'No space left on device')

  monkeypatch.setattr(checkpoint_files, 'sha256', full)
  with pytest.raises(OSError):
    saved.save(20, {})
  assert [path.name for path in tmp_path.iterdir()] == ['step_000000010']


def test_what_a_kill_left_behind_is_not_taken_for_a_checkpoint(tmp_path):
  _, saved = _make(tmp_path)
  (tmp_path / '.step_10.new').mkdir()
  assert saved.steps() == []
  saved.save(10, {})
  assert saved.steps() == [10]
