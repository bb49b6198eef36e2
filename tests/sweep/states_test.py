"""States of run folders that were made up."""
import json

import pytest

from drvf_tf.runs import run_folder, run_reader
from drvf_tf.sweep import states
from tests.sweep import fakes


@pytest.fixture(name='run')
def _run(tmp_path):
  """Saved at 20 of 60, rows up to 30; then killed in the middle of a line."""
  for step in (10, 20):
    (tmp_path / f'checkpoints/step_{step:09d}').mkdir(parents=True)
  (tmp_path / 'checkpoints/.step_30.new').mkdir()
  (tmp_path / 'checkpoints/best').mkdir()
  (tmp_path / 'config.gin').write_text(
      'generated_maze2d.num_steps = 9\ntrain_eval.num_steps = 60\n')
  (tmp_path / 'run.json').write_text('{"command": ["launch/train.py", "-a"]}')
  (tmp_path / 'metrics.csv').write_text('step,loss\n10,1.0\n30,2.0\n4')
  (tmp_path / 'evaluations.jsonl').write_text(
      '{"step": 10, "score": 1.5}\n{"step": 20, "score": 2.5}\n{"step": 3')
  return tmp_path


def test_not_started(tmp_path):
  assert states.read(tmp_path / 'none').phase is states.Phase.NOT_STARTED
  (tmp_path / 'metrics.csv').write_text('step,loss\n')
  assert states.read(tmp_path) == states.State(states.Phase.NOT_STARTED)


def test_stopped_resumes_from_the_checkpoint(run):
  assert states.read(run) == states.State(states.Phase.STOPPED, 20, 60, 2.5)


def test_running_is_as_far_as_its_rows(run):
  with run_folder.RunFolder(run):
    assert run_reader.RunReader(run).is_locked()
    assert states.read(run) == states.State(states.Phase.RUNNING, 30, 60, 2.5)
  assert not run_reader.RunReader(run).is_locked()
  assert states.read(run, running=True).phase is states.Phase.RUNNING


def test_failed_with_its_sentence(run):
  states.write_record(run, {'started': 1.0, 'failed': 'Mend it.'})
  assert states.read(run) == states.State(
      states.Phase.FAILED, 20, 60, 2.5, 'Mend it.')
  states.drop_record(run)
  assert states.read(run).phase is states.Phase.STOPPED


def test_finished_has_the_final_score(run):
  (run / 'run.json').write_text(json.dumps(
      {'summary': {'final_score': 9.0, 'last_evaluations_score': 8.0}}))
  assert states.read(run) == states.State(states.Phase.FINISHED, 60, 60, 9.0)


def test_a_run_of_another_command_is_not_taken_for_finished(tmp_path):
  cell = fakes.cell(tmp_path, 'finish')
  cell.run_dir.mkdir(parents=True)
  facts = {'command': ['launch/train.py', *cell.arguments], 'summary': {}}
  (cell.run_dir / 'run.json').write_text(json.dumps(facts))
  assert states.is_finished(cell)
  facts['command'].append('--gin_param=train_eval.num_steps=1')
  (cell.run_dir / 'run.json').write_text(json.dumps(facts))
  assert not states.is_finished(cell)
  del facts['summary']
  facts['command'].pop()
  (cell.run_dir / 'run.json').write_text(json.dumps(facts))
  assert not states.is_finished(cell)
