"""The table and the picture of fine-tunings."""
import json

import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.finetune import page


def _folder(folder, scores):
  """A fine-tuning as it is on disk."""
  folder.mkdir()
  (folder / 'run.json').write_text(json.dumps({
      'task': 'hopper-medium-v2', 'seed': 3, 'method': 'DRVF, then posterior',
      'offline': {'run': 'r', 'step': 40_000, 'score': 60.0},
      'layout': {'observation': 1, 'action': 1, 'uncertainty': True}}))
  (folder / 'evaluations.jsonl').write_text(''.join(
      json.dumps({'step': 40_000 + step, 'score': score, 'final': False,
                  'mean_return': 10 * score}) + '\n'
      for step, score in scores.items()))
  (folder / 'metrics.csv').write_text(
      'step,collected_in_support,collected_q_std,q_std_data\n'
      '40500,0.75,2.0,1.0\n41000,0.5,3.0,1.5\n')
  rows = np.zeros([5, 8], np.float32)
  rows[:, 2] = [1, 2, 4, 8, 16]  # rewards
  rows[:, 5] = [0, 1, 0, 1, 0]  # ends
  rows.tofile(folder / 'collected.f32')
  return str(folder)


@pytest.fixture(name='numbers')
def _numbers(tmp_path):
  return page.make([_folder(tmp_path / 'a', {
      0: 61.0, 1_000: 40.0, 5_000: 70.0, 6_000: 20.0})])


def test_steps_are_online_steps(numbers):
  [found] = numbers
  assert found['evaluations']['step'] == [0, 1_000, 5_000, 6_000]
  assert found['metrics']['step'] == [500, 1_000]
  assert found['collected'] == {'row': [2, 4], 'return': [3.0, 12.0]}


def test_the_drop_is_the_switchs(numbers):
  """61 − 40; what happens after 5,000 steps has other reasons."""
  assert page.drop(numbers[0]) == 21.0
  row = page.table(numbers).splitlines()[1].split()
  assert row == ['DRVF,', 'then', 'posterior,', 'seed', '3', '60.0', '61.0',
                 '40.0', '70.0', '21.0']


def test_the_picture(numbers, tmp_path):
  paths = page.write(numbers, tmp_path / 'new')
  assert json.loads(paths[0].read_text()) == numbers
  assert all(path.stat().st_size > 10_000 for path in paths[1:])
  scores, spread, gate, _ = page.picture(numbers).axes
  np.testing.assert_allclose(scores.lines[1].get_ydata(), 60.0)  # offline
  np.testing.assert_allclose(gate.lines[0].get_ydata(), [0.25, 0.5])
  assert len(spread.lines) == 2


def test_an_offline_run_is_none(tmp_path):
  (tmp_path / 'run.json').write_text(json.dumps({'task': 'x'}))
  with pytest.raises(errors.UserError, match='is no fine-tuning'):
    page.make([str(tmp_path)])
