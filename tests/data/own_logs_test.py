"""Logs of one's own: bounds, explicit ends, and the bad ones in a sentence."""
import numpy as np
import pytest

from drvf_tf import data, errors
from drvf_tf.data import card, files, loading, tables


def _logs():
  """Two episodes of five rows: one is cut, one ends."""
  rng = np.random.default_rng(0)
  return {'observations': rng.normal(size=(10, 3)),
          'actions': rng.uniform(-2, 5, (10, 2)),
          'rewards': np.arange(10.),
          'terminals': np.arange(10) == 9, 'timeouts': np.arange(10) == 4}


def _table():
  """The same as a table, with names of its own."""
  logs = _logs()
  table = {'trip': ['b'] * 5 + ['a'] * 5, 't': [str(i % 5) for i in range(10)],
           'r': logs['rewards'].astype(str).tolist(),
           'end': logs['terminals'].astype(int).astype(str).tolist()}
  for i in range(3):
    table[f's{i}'] = logs['observations'][:, i].astype(str).tolist()
  for i in range(2):
    table[f'push{i}'] = logs['actions'][:, i].astype(str).tolist()
  return table


_LAYOUT = tables.Layout('trip', 't', ['s*'], ['push0', 'push1'], 'r', 'end')


def _written(folder, table, order=None):
  names, rows = list(table), list(zip(*table.values()))
  lines = [names, *(rows[i] for i in order or range(len(rows)))]
  path = folder / 'logs.csv'
  path.write_text(''.join(','.join(line) + '\n' for line in lines))
  return path


def test_bounds_are_the_files_then_the_configurations_then_the_datas(tmp_path):
  logs = _logs()
  np.savez(tmp_path / 'a.npz', **logs)
  found = data.load(str(tmp_path / 'a.npz'), action_bounds=None)
  np.testing.assert_allclose(found.action_low, logs['actions'].min(axis=0))
  np.testing.assert_allclose(found.action_high, logs['actions'].max(axis=0))
  assert found.bounds_from == 'the smallest and the largest in the data'
  found = data.load(str(tmp_path / 'a.npz'), action_bounds=(-9., 9.))
  assert found.action_high.tolist() == [9., 9.]
  assert found.bounds_from == 'the configuration'
  np.savez(tmp_path / 'b.npz', **logs, action_low=[-3, -4], action_high=6.)
  found = data.load(str(tmp_path / 'b.npz'), action_bounds=None)
  assert found.action_low.tolist() == [-3., -4.]
  assert found.action_high.tolist() == [6., 6.]
  assert 'bounds from the file' in card.to_text(card.make(found))


def test_the_card_comes_first_and_is_of_the_rows_as_recorded(tmp_path, capsys):
  np.savez(tmp_path / 'a.npz', **_logs())
  data.load(str(tmp_path / 'a.npz'), action_bounds=None, card=True,
            states=data.transforms.normalize_observations)
  shown = capsys.readouterr().out
  assert '9 in 2 episodes' in shown  # of the cut one's last row nobody knows s'
  assert '1 terminal, 1 timed out' in shown
  raw = np.delete(_logs()['observations'], 4, axis=0).astype(np.float32)
  assert ' '.join(f'{x:.3g}' for x in raw.max(axis=0)) in shown


def test_what_the_recorder_knew_of_the_actions_is_kept(tmp_path):
  np.savez(tmp_path / 'a.npz', **_logs(),
           behaviour_log_probs=np.arange(10) / 10)
  found = data.load(str(tmp_path / 'a.npz'), action_bounds=None)
  np.testing.assert_allclose(found.behaviour_log_probs,
                             np.delete(np.arange(10), 4) / 10)
  half = data.transforms.hold_out_episodes(found, 0.5)
  assert len(half.behaviour_log_probs) == half.size
  assert found.hash() != found.replace(behaviour_log_probs=None).hash()


def test_transformed_rewards_can_be_undone():
  raw = loading.from_arrays(_logs(), 'mine', action_bounds=None)
  one = data.transforms.affine_reward(raw, 4., 0.5)
  two = data.transforms.affine_reward(one, 2., 3.)
  three = data.transforms.normalize_returns(two)
  for found in (one, two, three):
    np.testing.assert_allclose(
        found.rewards / found.reward_scale + found.reward_offset, raw.rewards,
        atol=1e-5)


def test_a_shuffled_table_becomes_the_logs(tmp_path):
  order = np.random.default_rng(1).permutation(10).tolist()
  path = _written(tmp_path, _table(), order)
  arrays = tables.to_arrays(tables.read_csv(path), _LAYOUT)
  expected = _logs()
  # Episodes are in the order in which they appear; steps in theirs.
  blocks = [slice(0, 5), slice(5, 10)]
  if _table()['trip'][order[0]] == 'a':
    blocks.reverse()
  for key, values in expected.items():
    np.testing.assert_allclose(
        arrays[key], np.concatenate([values[b] for b in blocks]), rtol=1e-6)


def test_a_table_of_numbers_needs_no_csv():
  table = {name: values if name == 'trip' else np.asarray(values, float)
           for name, values in _table().items()}
  arrays = tables.to_arrays(table, _LAYOUT._replace(terminal=None))
  assert arrays['timeouts'].tolist() == [i in (4, 9) for i in range(10)]
  assert not arrays['terminals'].any()


@pytest.mark.parametrize('suffix', ['npz', 'hdf5'])
def test_what_was_written_says_where_it_is_from(tmp_path, suffix):
  path = tmp_path / f'logs.{suffix}'
  files.write(path, _logs(), 'converted from x.csv')
  found = data.load(str(path), action_bounds=None)
  assert found.provenance == f'logs.{suffix} (converted from x.csv)'
  assert [file.name for file in tmp_path.glob('*logs*')] == [path.name]


def _with(**changes):
  def make(folder):
    logs = {**_logs(), **changes}
    np.savez(folder / 'logs.npz', **{
        key: value for key, value in logs.items() if value is not None})
    return lambda: data.load(str(folder / 'logs.npz'), action_bounds=None)
  return make


def _cell(column, row, value):
  def make(folder):
    table = _table()
    if value is None:
      del table[column]
    else:
      table[column][row] = value
    path = _written(folder, table)
    return lambda: tables.to_arrays(tables.read_csv(path), _LAYOUT, 'logs.csv')
  return make


def _text(text):
  def make(folder):
    (folder / 'logs.csv').write_text(text)
    return lambda: tables.read_csv(folder / 'logs.csv')
  return make


def _spoilt(value):
  rewards = np.arange(10.)
  rewards[3] = value
  return rewards


_BAD = {
    'no rewards': (_with(rewards=None), "no array 'rewards'"),
    'ends not told': (_with(timeouts=None), "no array 'timeouts'"),
    'lengths differ': (_with(actions=np.ones((9, 2))), '9 rows'),
    'wrong rank': (_with(actions=np.ones(10)), 'must have 2 axes'),
    'no rows': (_with(**{key: value[:0] for key, value in _logs().items()}),
                'has no rows'),
    'NaN': (_with(rewards=_spoilt(np.nan)), 'the first is row 3'),
    'text': (_with(rewards=np.array(['good'] * 10)), 'and not numbers'),
    'objects': (_with(rewards=np.array([[1], [2, 3]] * 5, object)),
                'Python objects'),
    'flags': (_with(terminals=np.arange(10)), 'the value 2'),
    'worthless': (_with(rewards=np.ones(10), terminals=np.zeros(10)),
                  'all 10 rewards'),
    'out of order': (_with(next_observations=np.zeros((10, 3))),
                     'sort the rows by episode'),
    'outside its own bounds': (_with(action_low=[-1, -1], action_high=[1, 1]),
                               'actions outside'),
    'no bounds': (_with(action_low=[1, 1], action_high=[1, 1]),
                  'are no bounds'),
    'half of the bounds': (_with(action_low=[-9, -9]), 'give both'),
    'a constant action': (_with(actions=np.ones((10, 2))),
                          'action 0 of logs.npz is 1 in every row'),
    'too short': (_with(timeouts=np.ones(10), terminals=np.zeros(10)),
                  'no row whose next observation is known'),
    'no such table': (lambda folder: lambda: tables.read_csv(folder / 'no.csv'),
                      'cannot be read as a CSV'),
    'an empty table': (_text('trip,t\n'), 'no rows below its header'),
    'a column twice': (_text('a,a\n1,2\n'), "two columns named 'a'"),
    'a ragged line': (_text('a,b\n1,2\n1\n'), 'line 3 of'),
    'no such column': (_cell('r', 0, None), "no column 'r': it has trip, t"),
    'a word for a number': (_cell('s1', 3, 'high'), "'high' in row 4"),
    'an empty cell': (_cell('r', 3, ''), "'' in row 4"),
    'no episode': (_cell('trip', 3, ''), "'trip' of logs.csv is empty"),
    'a step twice': (_cell('t', 3, '2'), 'has step 2 twice'),
    'a missing step': (_cell('t', 4, '9'), 'no step between 3 and 9'),
    'after the end': (_cell('end', 2, '1'), 'goes on after the terminal'),
    'an odd flag': (_cell('end', 2, 'maybe'), 'true or false'),
}


@pytest.mark.parametrize('kind', _BAD)
def test_bad_logs_are_told_in_one_sentence(tmp_path, kind):
  make, words = _BAD[kind]
  load = make(tmp_path)
  with pytest.raises(errors.UserError) as error:
    load()
  sentence = errors.plain(error.value)
  assert words in sentence
  assert '\n' not in sentence and sentence.endswith('.')
  assert ': ' in sentence  # the cause, then the cure


def test_an_action_that_is_seen_is_told():
  with pytest.raises(tables.TableError, match='cannot see'):
    tables.to_arrays(_table(), _LAYOUT._replace(observations=['*']))
