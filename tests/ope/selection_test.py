"""Selection: ranks and regrets by hand, and a run folder from end to end."""
import json

import gin
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.ope import selection, selection_picture
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
  assert selection.rank_correlation(x, x**3) == pytest.approx(1)
  assert selection.rank_correlation(x, -x) == pytest.approx(-1)
  # Ranks 1, 2, 3, 4 and 1.5, 1.5, 3, 4.
  assert selection.rank_correlation(x, np.array([0., 0., 5., 9.])) == (
      pytest.approx(0.948683, abs=1e-5))
  assert selection.rank_correlation(x, np.zeros(4)) == 0


def test_regret_by_hand():
  assert selection.regret(np.array([3., 9., 5.]),
                          np.array([10., 20., 50.])) == 30
  assert selection.regret(np.array([3., 5., 9.]),
                          np.array([10., 20., 50.])) == 0


def _candidate(step, score, **criteria):
  return selection.Candidate('a', 'DRVF', 0, step, criteria, [], score)


def test_a_criterion_is_judged_on_what_it_ranks(tmp_path):
  found = [_candidate(1, 5., fqe=1., fqe_low=0., lcb=3.),
           _candidate(2, 9., fqe=2., fqe_low=5., lcb=1.),
           _candidate(3, 7., fqe=3., fqe_low=1.)]
  judged = {one.criterion: one for one in selection.judge(found)}
  assert judged['fqe'].regret == 2 and judged['fqe'].policies == 3
  assert judged['fqe'].correlation == pytest.approx(0.5)
  assert judged['fqe_low'].regret == 0
  assert judged['lcb'].policies == 2 and judged['lcb'].correlation == (
      pytest.approx(-1))
  text = selection.verdicts(found)
  assert 'regret@1 2.0, rank correlation +0.50 over 3 policies' in text
  assert selection.table(found).splitlines()[1].startswith(
      'DRVF, seed 0, step 2')
  selection_picture.save(found, tmp_path / 'x.png')
  assert (tmp_path / 'x.png').stat().st_size > 5_000


def test_without_scores_nothing_is_judged():
  found = [_candidate(1, None, fqe=1., fqe_low=0.),
           _candidate(2, None, fqe=2., fqe_low=5.)]
  assert not selection.judge(found)
  assert 'takes a, step 2' in selection.verdicts(found)
  assert 'score' not in selection.table(found)


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
  assert set(one) == set(selection.CRITERIA) - {'model'}
  assert one['action_error'] != other['action_error']  # another checkpoint
  monkeypatch.setattr(restoring, 'restore', None)  # not needed any more
  again = list(selection.candidates([str(run)], None, cache, _QUICK))
  assert [each.criteria for each in again] == [one, other]


def test_scores_can_be_given(tmp_path):
  path = tmp_path / 'scores.csv'
  path.write_text('run,step,score\na,20,3.5\n')
  assert selection.read_scores(path) == {('a', 20): 3.5}
  path.write_text('run,score\na,20\n')
  with pytest.raises(errors.UserError, match='columns run, step and score'):
    selection.read_scores(path)
