"""What goes into rliable, and what comes out."""
import itertools
import sys

import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.report import aggregates, comparison, gathering
from tests.report import made_up_runs

_LOW, _HIGH = 23.85, 161.86  # D4RL's reference returns of maze2d-umaze-v1


@pytest.fixture(name='rows')
def _rows(tmp_path):
  def write(method, seed, score, task='maze2d-umaze-v1'):
    low, high = {'maze2d-umaze-v1': (_LOW, _HIGH),
                 'antmaze-umaze-v2': (0.0, 1.0)}[task]
    made_up_runs.write(tmp_path / f'{method}{seed}{task}', seed, [],
                       [low + score * (high - low)], method=method, task=task)

  for method, scores in (('A', (0.1, 0.2, 0.9)), ('B', (0.3, 0.4))):
    for seed, score in enumerate(scores):
      write(method, seed, score)
      write(method, seed, score, 'antmaze-umaze-v2')
  write('A', 3, 1.2)  # a fourth seed, on one task only
  for seed in (0, 1):
    write('one task', seed, 0.5)
  write('one seed', 0, 0.5)
  return comparison.rows(gathering.gather([str(tmp_path)])[0])


def test_methods_with_two_runs_on_every_task_are_aggregated(rows):
  data = aggregates.scores(rows)
  assert data.tasks == ('antmaze-umaze-v2', 'maze2d-umaze-v1')
  assert set(data.methods) == {'A', 'B'}
  np.testing.assert_allclose(
      data.methods['A'], [[0.1, 0.1], [0.2, 0.2], [0.9, 0.9]])
  assert set(data.left_out) == {'one task', 'one seed'}


@pytest.mark.parametrize('tasks_of, tasks, methods', [
    # Six cells; A alone has three, A and D have two.
    ({'A': 'mah', 'B': 'ma', 'C': 'ma', 'D': 'h'}, 'am', 'ABC'),
    # Two cells, but the three of A would compare nothing.
    ({'A': 'mah', 'B': 'h'}, 'h', 'AB'),
    # Nothing in common: a method by itself is all there is.
    ({'A': 'ma', 'B': 'h'}, 'am', 'A'),
])
def test_a_method_on_more_tasks_than_others_is_compared_on_theirs(
    tmp_path, tasks_of, tasks, methods):
  names = {'m': 'maze2d-umaze-v1', 'a': 'antmaze-umaze-v2',
           'h': 'hopper-medium-v2'}
  for method, letters in tasks_of.items():
    for letter, seed in itertools.product(letters, (0, 1)):
      made_up_runs.write(tmp_path / f'{method}{letter}{seed}', seed, [], [0.5],
                         method=method, task=names[letter])
  data = aggregates.scores(
      comparison.rows(gathering.gather([str(tmp_path)])[0]))
  assert data.tasks == tuple(names[letter] for letter in tasks)
  assert ''.join(data.methods) == methods
  assert set(data.left_out) == set(tasks_of) - set(methods)


def test_aggregates_by_hand(rows):
  pytest.importorskip('rliable')
  data = aggregates.scores(rows)
  state = np.random.get_state()[1].copy()
  found = aggregates.intervals(data)
  np.testing.assert_array_equal(np.random.get_state()[1], state)
  assert found == aggregates.intervals(data)
  of_a = found['A']
  assert of_a['mean'].value == pytest.approx(0.4)
  assert of_a['median'].value == pytest.approx(0.4)  # of the tasks' means
  # The middle half of .1 .1 .2 .2 .9 .9, one cut off at each end.
  assert of_a['IQM'].value == pytest.approx((0.1 + 0.2 + 0.2 + 0.9) / 4)
  assert of_a['optimality gap'].value == pytest.approx(0.6)
  for value in of_a.values():
    assert value.low <= value.value <= value.high
  # Of six pairs on each task A wins two: .9 against .3 and .4.
  (better,) = aggregates.improvement(data).items()
  assert better[0] == 'A > B'
  assert better[1].value == pytest.approx(2 / 6)
  taus, shares, bands = aggregates.profiles(data)
  at_half = int(np.argmin(np.abs(taus - 0.5)))
  assert shares['A'][at_half] == pytest.approx(1 / 3)
  assert shares['B'][at_half] == 0
  assert bands['A'].shape == (2, taus.size)


def test_improvement_is_over_drvf_or_the_best():
  pytest.importorskip('rliable')
  methods = {name: np.array([[value], [value + 0.1]])
             for name, value in (('A', 0.2), ('DRVF', 0.4), ('Z', 0.9))}
  data = aggregates.Scores(('task',), methods, ())
  found = aggregates.improvement(data)
  assert {pair: value.value for pair, value in found.items()} == {
      'DRVF > A': 1, 'DRVF > Z': 0}
  del methods['DRVF']
  assert list(aggregates.improvement(data)) == ['Z > A']


def test_without_the_extra_one_sentence_says_what_to_install(
    rows, monkeypatch):
  monkeypatch.setitem(sys.modules, 'rliable', None)
  with pytest.raises(errors.UserError, match=r"pip install 'drvf_tf\[report\]"):
    aggregates.intervals(aggregates.scores(rows))
