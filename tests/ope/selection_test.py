"""Selection: ranks and regrets by hand, and a run folder from end to end."""
import json

import gin
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.ope import ranking, selection, selection_picture
from drvf_tf.runs import (
    building,
    checkpoints,
    configuration,
    restoring,
    run_folder,
    run_reader,
)
from tests.train import tiny_run


def test_rank_correlation_by_hand():
  x = np.array([1., 2., 3., 4.])
  assert ranking.rank_correlation(x, x**3) == pytest.approx(1)
  assert ranking.rank_correlation(x, -x) == pytest.approx(-1)
  # Ranks 1, 2, 3, 4 and 1.5, 1.5, 3, 4.
  assert ranking.rank_correlation(x, np.array([0., 0., 5., 9.])) == (
      pytest.approx(0.948683, abs=1e-5))
  assert ranking.rank_correlation(x, np.zeros(4)) == 0


def _candidate(step, score, **criteria):
  return ranking.Candidate('a', 'DRVF', 0, step, criteria, [], score)


def test_a_criterion_is_judged_on_what_it_ranks(tmp_path):
  found = [_candidate(1, 5., fqe=1., fqe_low=0., lcb=3.),
           _candidate(2, 7., fqe=2., fqe_low=5., lcb=1.),
           _candidate(3, 9., fqe=1.5, fqe_low=1.)]
  judged = {one.criterion: one for one in ranking.judge(found)}
  assert judged['fqe'].regret == 2 and judged['fqe'].policies == 3
  assert judged['fqe'].correlation == pytest.approx(0.5)
  assert judged['fqe_low'].chosen == 7
  assert judged['lcb'].policies == 2 and judged['lcb'].correlation == (
      pytest.approx(-1))
  # It cannot choose the best, of which it does not know: that is its regret.
  assert judged['lcb'].regret == 4
  text = ranking.verdicts(found)
  assert 'regret@1 2.0, rank correlation +0.50 over 3 policies' in text
  assert 'takes a, step 1, of 2 of the 3 policies (score 5.0; regret' in text
  assert ranking.table(found).splitlines()[1].startswith(
      'DRVF, seed 0, step 2')
  selection_picture.save(found, tmp_path / 'x.png')
  assert (tmp_path / 'x.png').stat().st_size > 5_000


def test_what_a_method_does_not_have_is_a_dash_and_a_warning_a_star():
  warned = [{'name': 'fqe', 'warnings': ['extrapolation']}]
  found = [_candidate(1, 5., fqe=1., fqe_low=0.25, lcb=3.),
           _candidate(2, None, fqe=2., fqe_low=-1.5)._replace(
               method='BC', estimates=warned)]
  header, first, second, *notes = ranking.table(found).splitlines()
  assert header.split() == ['policy', 'FQE', 'FQE,', 'low', 'end', 'own',
                            'LCB', 'score']
  assert first.split()[-4:] == ['1', '0.25', '3', '5.0']
  assert second.split()[-3:] == ['2*', '-1.5*', '-']
  assert [note[0] for note in notes] == ['-', '*']
  # Numbers are below the ends of their headings.
  assert first.index('0.25') + 4 == header.index('low end') + 7


def test_runs_of_one_method_and_seed_are_told_apart_by_folders():
  found = [_candidate(1, None, fqe_low=1.),
           _candidate(1, None, fqe_low=2.)._replace(run='b')]
  lines = ranking.table(found).splitlines()
  assert [line.split(',')[0] for line in lines[1:]] == ['b', 'a']


def test_the_picture_tells_methods_apart():
  found = [_candidate(step, float(step), fqe=1. * step, fqe_low=1.)._replace(
      method=method) for method in ('BC', 'IQL') for step in (1, 2)]
  found[0].criteria['lcb'] = found[1].criteria['lcb'] = 0.0
  picture = selection_picture.draw(found)
  drawn = {text.get_text(): handle.get_color() for text, handle in zip(
      picture.legends[0].get_texts(), picture.legends[0].get_lines())}
  assert len(drawn) == 2 and len(set(drawn.values())) == 2
  titles = [axis.get_title() for axis in picture.axes[:3]]
  assert ['2 of 4' in title for title in titles] == [False, False, True]
  for axis in picture.axes[:2]:
    assert {line.get_color(): len(line.get_xdata())
            for line in axis.get_lines()} == {
                colour: 2 for colour in drawn.values()}


def test_without_scores_nothing_is_judged():
  found = [_candidate(1, None, fqe=1., fqe_low=0.),
           _candidate(2, None, fqe=2., fqe_low=5.)]
  assert not ranking.judge(found)
  assert 'takes a, step 2' in ranking.verdicts(found)
  assert 'score' not in ranking.table(found)


def test_every_folder_that_is_named_must_hold_a_run(run, tmp_path):
  with pytest.raises(errors.UserError, match=f'no run folder in {tmp_path}'):
    selection.folders([str(run), str(tmp_path)])
  (tmp_path / 'young').mkdir()
  (tmp_path / 'young' / 'run.json').write_text('{}')
  with pytest.raises(errors.UserError, match='keep_every'):
    selection.folders([str(tmp_path)])
  assert selection.folders([str(run), str(tmp_path), str(run)]) == (
      [str(run)], [str(tmp_path / 'young')])


@pytest.fixture(name='run', scope='module')
def _run(tmp_path_factory):
  """A run folder with two checkpoints and their scores."""
  folder = tmp_path_factory.mktemp('runs') / 'one'
  gin.clear_config()
  configuration.parse([tiny_run.GIN_FILE], tiny_run.bindings(
      tiny_run.make_data(tmp_path_factory.mktemp('data'))))
  agent, dataset, step = building.from_gin()
  saved = checkpoints.Checkpoints(
      folder / 'checkpoints', 2, agent=agent, step=step)
  for number in (20, 40):
    step.assign(number)
    agent.acting_network.variables[-1].assign_add([0.3] * 4)
    saved.save(number, {})
  with run_folder.RunFolder(folder) as home:
    home.describe(gin.config_str(), {
        'step': 0, 'task': 'maze2d-umaze-v1', 'seed': 0, 'method': 'DRVF',
        'dataset_hash': dataset.hash()})
  rows = [{'step': 20, 'final': False, 'score': 1.0},
          {'step': 40, 'final': True, 'score': 9.0},
          {'step': 40, 'final': False, 'score': 2.0}]
  (folder / 'evaluations.jsonl').write_text(
      ''.join(json.dumps(row) + '\n' for row in rows))
  gin.clear_config()
  return folder


_QUICK = ['FittedQEvaluation.num_steps=20', 'FittedQEvaluation.num_members=3',
          'FittedQEvaluation.hidden_units=(8,)', 'Behaviour.num_steps=20',
          'OfflineEvaluation.bootstrap_samples=50']


def test_every_checkpoint_is_a_candidate_and_evaluated_once(
    run, tmp_path, monkeypatch):
  assert list(run_reader.search(run.parent)) == [run]
  cache = tmp_path / 'evaluated.jsonl'
  found = list(selection.candidates([str(run)], None, cache, _QUICK))
  assert [(one.step, one.score) for one in found] == [(20, 1.0), (40, 9.0)]
  one, other = (dict(each.criteria) for each in found)
  assert set(one) == set(ranking.CRITERIA) - {'model'}
  assert one['action_error'] != other['action_error']  # another checkpoint
  monkeypatch.setattr(restoring, 'restore', None)  # not needed any more
  again = list(selection.candidates([str(run)], None, cache, _QUICK))
  assert [each.criteria for each in again] == [one, other]
  # What was trained anew in the same folder is not what was evaluated.
  rows = [json.loads(line) for line in cache.read_text().splitlines()]
  cache.write_text(json.dumps({**rows[0], 'checkpoint': 'another'}) + '\n')
  with pytest.raises(TypeError):  # restore, which is None
    next(selection.candidates([str(run)], None, cache, _QUICK))


@pytest.mark.parametrize('changed, message', [
    ({'data_hash': 'another', 'data': 'elsewhere.npz'},
     r'different data \(here.npz of a, and elsewhere.npz\)'),
    ({'gamma': 0.9, 'run': 'b'}, 'choose one with --discount')])
def test_what_was_evaluated_before_must_be_of_the_same_data(
    changed, message):
  shared = selection._Shared(None)
  first = {'run': 'a', 'data': 'here.npz', 'data_hash': 'x', 'gamma': 0.99}
  shared.check(first)
  shared.check({**first, 'run': 'b'})
  with pytest.raises(errors.UserError, match=message):
    shared.check({**first, **changed})


def test_scores_can_be_given(tmp_path):
  path = tmp_path / 'scores.csv'
  path.write_text('run,step,score\na,20,3.5\n')
  assert selection.read_scores(path) == {('a', 20): 3.5}
  path.write_text('run,score\na,20\n')
  with pytest.raises(errors.UserError, match='columns run, step and score'):
    selection.read_scores(path)
