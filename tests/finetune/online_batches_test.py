"""The batches of a fine-tuning, by numbers computed by hand."""
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.finetune import collected_rows, online_batches


class _Task:
  """Enough of a task to be built with."""
  name = 'fake'

  def environment(self, seed):
    """Never asked for here."""
    raise NotImplementedError(seed)


def _dataset(**changes):
  size = 5
  return offline_dataset.OfflineDataset(
      observations=np.zeros([size, 2], np.float32),
      actions=np.zeros([size, 1], np.float32),
      rewards=np.zeros(size, np.float32),
      next_observations=np.zeros([size, 2], np.float32),
      terminals=np.zeros(size, bool),
      episode_ends=np.arange(size) == size - 1, name='fake',
      action_low=-np.ones(1, np.float32), action_high=np.ones(1, np.float32),
      observation_mean=np.array([1, 2], np.float32),
      observation_std=np.array([2, 4], np.float32), reward_scale=3.0,
      reward_offset=0.5).replace(**changes)


def _source(share):
  source = online_batches.OnlineBatches(
      _dataset(), 8, 0, environment=_Task, first_step=100,
      offline_share=share)
  source._layout = collected_rows.Layout(2, 1, uncertainty=True)
  return source


def test_rows_collected_are_in_the_terms_of_the_data():
  #        s     a  r  discount  s'    end  q_std  in support
  rows = [[3, 6, 1, 2, 0, 5, 10, 1, 9, 1]]
  found = _source(None)._as_trained_on(np.array(rows, np.float32))
  # (3 − 1) / 2, (6 − 2) / 4, a, 3 (2 − 0.5), discount, (5 − 1) / 2, 8 / 4
  np.testing.assert_allclose(found, [[1, 1, 1, 4.5, 0, 2, 2]])


@pytest.mark.parametrize('step, offline', [(100, 8), (150, 4), (900, 0)])
def test_a_batch_has_its_share_of_both(step, offline):
  source = _source(lambda online: online_batches.linear_share(
      online, first=1.0, last=0.0, steps=100))
  row = np.array([[3, 6, 1, 2, 0, 5, 10, 1, 9, 1]], np.float32)
  source._buffer.add(source._as_trained_on(row))
  batch = source(tf.constant(step, tf.int64))
  rewards = batch.next_time_step.reward.numpy().tolist()
  assert rewards == [0.0] * offline + [4.5] * (8 - offline)
  np.testing.assert_array_equal(
      batch.next_time_step.discount, [1] * offline + [0] * (8 - offline))


def test_rows_on_disk_are_cut_to_a_checkpoint(tmp_path):
  path = tmp_path / 'rows'
  file = collected_rows.CollectedRows(path, 2)
  assert file.begin(0, 0).shape == (0, 2)
  file.add(np.array([[1, 2], [3, 4]]))
  checksum = file.checksum
  file.add(np.array([[5, 6]]))  # after the checkpoint; the process dies here
  again = collected_rows.CollectedRows(path, 2)
  np.testing.assert_array_equal(again.begin(2, checksum), [[1, 2], [3, 4]])
  again.add(np.array([[7, 8]]))
  np.testing.assert_array_equal(
      np.fromfile(path, np.float32), [1, 2, 3, 4, 7, 8])
  assert again.checksum != file.checksum
  path.write_bytes(b'\0' * 24)
  with pytest.raises(errors.UserError, match='does not hold the 3 rows'):
    collected_rows.CollectedRows(path, 2).begin(3, again.checksum)
