"""Which folders are reported, and why the others are not."""
import json

import numpy as np
import pytest

from drvf_tf.report import gathering
from drvf_tf.runs import settings
from tests.report import made_up_runs

_LOW, _HIGH = 23.85, 161.86  # D4RL's reference returns of maze2d-umaze-v1


def test_scores_are_computed_from_raw_returns(tmp_path):
  made_up_runs.write(tmp_path / 'a' / 'deep' / 'run', 3, [[10.0, 20.0]],
                     [30.0, 161.86])
  (run,), refused = gathering.gather([str(tmp_path)])
  assert not refused
  assert (run.task, run.method, run.seed, run.num_steps) == (
      'maze2d-umaze-v1', 'DRVF', 3, 60)
  np.testing.assert_allclose(run.final.scores, [
      100 * (30 - _LOW) / (_HIGH - _LOW), 100.0])
  np.testing.assert_allclose(
      run.evaluations[0].score, 100 * (15 - _LOW) / (_HIGH - _LOW))
  assert run.origin == 'generated, not D4RL'
  assert run.cost.minutes == 30


def test_links_to_runs_are_followed_and_circles_left(tmp_path):
  made_up_runs.write(tmp_path / 'disk' / 'run', 0, [[1.0]], [2.0])
  shelf = tmp_path / 'shelf'
  shelf.mkdir()
  (shelf / 'linked').symlink_to(tmp_path / 'disk', target_is_directory=True)
  (shelf / 'circle').symlink_to(shelf, target_is_directory=True)
  (run,), refused = gathering.gather([str(shelf)])
  assert run.path == shelf / 'linked' / 'run' and not refused


def test_what_is_left_out_is_listed_with_the_reason(tmp_path):
  write = made_up_runs.write
  good = write(tmp_path / '0_good', 0, [[1.0]], [2.0])
  write(tmp_path / '1_unfinished', 1, [[1.0]], [2.0], finished=None)
  write(tmp_path / '2_duplicate', 0, [[1.0]], [2.0],
        config=made_up_runs.CONFIG.replace('threads = 1', 'threads = 2'))
  write(tmp_path / '3_other', 0, [[1.0]], [7.0])
  write(tmp_path / '4_failed', 4, [[float('nan')]], [2.0])
  write(tmp_path / '5_task', 5, [[1.0]], [2.0], task='Pendulum-v1')
  write(tmp_path / '6_torn', 6, [[1.0]], [2.0])
  (tmp_path / '6_torn' / 'evaluations.jsonl').write_text('{"step": 5, ')
  write(tmp_path / '6_new', 6, [], [2.0], finished=None)
  (tmp_path / '6_new' / 'evaluations.jsonl').unlink()
  write(tmp_path / '6_bad', 6, [], [2.0])
  (tmp_path / '6_bad' / 'evaluations.jsonl').write_text('{"step": 5, \n')
  (tmp_path / '7_foreign').mkdir()
  (tmp_path / '7_foreign' / 'run.json').write_text('{"job": 1}')
  (tmp_path / '7_foreign' / 'config.gin').write_text('')
  (tmp_path / '7_foreign' / 'evaluations.jsonl').write_text('')
  write(tmp_path / '8_facts', 8, [[1.0]], [2.0], dataset_hash=None)
  (tmp_path / '9_json').mkdir()
  (tmp_path / '9_json' / 'run.json').write_text('[')
  (tmp_path / 'empty').mkdir()
  (tmp_path / 'file').write_text('')
  paths = [tmp_path, good, tmp_path / 'empty', tmp_path / 'file',
           tmp_path / 'nowhere']
  found, refused = gathering.gather([str(path) for path in paths])
  assert [run.path for run in found] == [good]
  reasons = {refusal.path.name: refusal.reason for refusal in refused}
  for name, words in {
      '1_unfinished': 'not finished: its last evaluation is of step 60 of 60',
      '2_duplicate': 'with the same returns',
      '3_other': 'with other returns',
      '4_failed': 'failed: the returns of step 5',
      '5_task': "foreign: 'Pendulum-v1'",
      '6_torn': 'no final evaluation',
      '6_new': 'not finished: its last evaluation is of step 0 of 60',
      '6_bad': 'not a whole run folder: Expecting',
      '7_foreign': "not a run folder of drvf_tf: no entry 'train_eval",
      '8_facts': "no entry 'dataset_hash'",
      '9_json': 'run.json cannot be read',
      'empty': 'no run in it',
      'file': 'not a folder',
      'nowhere': 'no such folder'}.items():
    assert words in reasons.pop(name), name
  assert not reasons


def test_the_method_is_what_the_run_was_told(tmp_path):
  told = made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0], method='EDAC')
  (run,), _ = gathering.gather([str(told)])
  assert run.method == 'EDAC'
  assert json.loads((told / 'run.json').read_text())['method'] == 'EDAC'
  read = settings.read
  assert settings.method(read("train_eval.method = 'PBRL'")) == 'PBRL'
  assert settings.method(read(
      'train_eval.method = None\nbuild_agent.agent_class = @EnsembleSacAgent\n'
      'EnsembleSacAgent.actor_constraint = @behaviour_cloning')) == (
          'EnsembleSac + behaviour_cloning')


def test_values_over_several_lines_are_read_whole():
  assert settings.read('a.b = \\\n    (1,\n     2)\n\n# c.d = 3\ne.f = 4') == {
      'a.b': '(1, 2)', 'e.f': '4'}


@pytest.mark.parametrize('dataset, words', [
    ('x (regenerated, not D4RL: y)', 'regenerated, not D4RL'),
    ('x (collected, not D4RL: y)', 'generated, not D4RL'),
    ('hopper.hdf5', 'hopper.hdf5, origin not noted in the file')])
def test_captions_name_the_kind_of_data(tmp_path, dataset, words):
  made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0], dataset=dataset)
  (run,), _ = gathering.gather([str(tmp_path)])
  assert run.origin == words
