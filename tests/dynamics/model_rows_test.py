"""Which rows a model learns from."""
import numpy as np
import pytest

from drvf_tf import data, errors
from drvf_tf.dynamics import model_rows
from tests.dynamics import toy


def _recorded(with_next):
  """Two episodes of four rows: one ends in a terminal, one times out."""
  observations = np.arange(16, dtype=np.float32).reshape(8, 2)
  arrays = {'observations': observations,
            'actions': np.zeros([8, 1], np.float32),
            'rewards': np.arange(8, dtype=np.float32),
            'terminals': np.array([0, 0, 0, 1, 0, 0, 0, 0], bool),
            'timeouts': np.array([0, 0, 0, 0, 0, 0, 0, 1], bool)}
  if with_next:
    arrays['next_observations'] = observations + 0.5
  return data.from_arrays(arrays, 'mine')


def test_recorded_next_observations_make_a_terminal_row_usable():
  np.testing.assert_array_equal(
      model_rows.usable(_recorded(True)), [1, 1, 1, 1, 1, 1, 1, 0])


def test_a_terminal_row_that_repeats_itself_is_left_out():
  dataset = _recorded(False)  # its last row is gone, the end has moved
  np.testing.assert_array_equal(
      model_rows.usable(dataset), [1, 1, 1, 0, 1, 1, 0])
  rows = np.flatnonzero(model_rows.usable(dataset))
  np.testing.assert_array_equal(  # each goes from (x, x + 1) to (x + 2, …)
      model_rows.targets(dataset, rows)[:, :2], 2.0)


def test_windows_are_of_one_episode_and_in_no_other_part():
  dataset = toy.dataset(rows=200, length=25)
  split = model_rows.split(dataset, 0.2, 1_000, window=10, seed=0)
  # 24 usable rows in an episode: windows of 10, 10 and 4.
  assert {len(window) for window in split.held_out} <= {10, 4}
  assert 0.2 * 192 <= len(split.held_out_rows) < 0.2 * 192 + 10
  for window in split.held_out:
    np.testing.assert_array_equal(np.diff(window), 1)
    assert window[0] // 25 == window[-1] // 25
    np.testing.assert_array_equal(
        dataset.observations[window[1:]],
        dataset.next_observations[window[:-1]])
  everything = np.concatenate([split.train, split.held_out_rows])
  assert len(set(everything)) == len(everything) == 192


def test_no_more_rows_are_held_out_than_allowed():
  dataset = toy.dataset(rows=1_000)
  split = model_rows.split(dataset, 0.5, 20, window=10, seed=0)
  assert 20 <= len(split.held_out_rows) < 30
  other = model_rows.split(dataset, 0.5, 20, window=10, seed=1)
  assert set(split.held_out_rows) != set(other.held_out_rows)


def test_too_few_rows_are_a_sentence():
  with pytest.raises(errors.UserError, match='too few to hold windows of 25'):
    model_rows.split(toy.dataset(rows=20, length=20), 0.2, 1_000, 25, seed=0)
  dataset = _recorded(True)
  with pytest.raises(errors.UserError, match='no row whose next observation'):
    model_rows.split(dataset.replace(
        episode_ends=np.ones(8, bool), terminals=np.zeros(8, bool)),
                     0.2, 1_000, 25, 0)
