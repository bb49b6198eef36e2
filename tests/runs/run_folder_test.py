"""The lock, the configuration and the facts of a run folder."""
import sys
import time

import pytest

from drvf_tf import errors
from drvf_tf.runs import run_folder

_FACTS = {'dataset_hash': 'abc', 'step': 0, 'task': 'x'}


def test_a_second_process_is_refused(tmp_path):
  with run_folder.RunFolder(tmp_path):
    with pytest.raises(errors.UserError, match='Another process'):
      run_folder.RunFolder(tmp_path)
  with run_folder.RunFolder(tmp_path):
    pass


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
  (tmp_path / 'file').write_text('')
  with pytest.raises(errors.UserError, match='cannot be written'):
    run_folder.RunFolder(tmp_path / 'file' / 'run')


def test_another_configuration_is_refused_with_its_lines(tmp_path):
  with run_folder.RunFolder(tmp_path) as folder:
    folder.agree('a.b = 1\na.c = 2\n', 'abc')
    folder.describe('# comment\na.b = 1\na.c = 2\n', dict(_FACTS))
    folder.agree('a.b = 1\n\na.c = 2\n', 'abc')
    with pytest.raises(errors.UserError) as error:
      folder.agree('a.b = 1\na.c = 3\n', 'abc')
    assert str(error.value).endswith('-a.c = 2\n+a.c = 3')
    with pytest.raises(errors.UserError, match='data of another content'):
      folder.agree('a.b = 1\na.c = 2\n', 'other')


def test_more_steps_may_be_asked_for_unless_a_schedule_ends_with_them(tmp_path):
  config = 'train_eval.num_steps = 20\nGuard.max_abs_q = 1.0\n'
  longer = config.replace('20', '40').replace('1.0', '2.0')
  with run_folder.RunFolder(tmp_path) as folder:
    folder.describe(config, dict(_FACTS))
    folder.finish({'final_score': 1.0})
    folder.agree(longer, 'abc')
    with pytest.raises(errors.UserError, match=r'\+train_eval.num_steps'):
      folder.agree(longer + 'build_iql.actor_decay_steps = @steps_of_run()\n',
                   'abc')
    folder.describe(longer, {**_FACTS, 'step': 20})
    assert folder.summary is None
    assert folder.config() == longer


def test_an_extended_run_keeps_the_command_of_all_its_steps(
    tmp_path, monkeypatch):
  with run_folder.RunFolder(tmp_path) as folder:
    for step, steps in ((0, 20), (20, 40)):
      command = ['train.py', f'--gin_param=train_eval.num_steps={steps}']
      monkeypatch.setattr(sys, 'argv', command)
      folder.describe(f'train_eval.num_steps = {steps}\n',
                      {**_FACTS, 'step': step})
    assert folder.read_facts()['command'] == command


def test_facts_name_versions_and_every_start(tmp_path):
  with run_folder.RunFolder(tmp_path) as folder:
    folder.describe('', dict(_FACTS))
    folder.describe('', {**_FACTS, 'step': 20})
    facts = folder.read_facts()
    assert [start['step'] for start in facts['starts']] == [0, 20]
    assert facts['versions']['tf-agents'] == '0.19.0'
    assert facts['machine']['cores'] >= 1
    assert 'processor' in facts['machine']
    assert folder.summary is None
    folder.finish({'final_score': 1.0})
    assert folder.summary == {'final_score': 1.0}


def test_every_start_notes_what_it_spent_and_the_cost_adds_up(tmp_path):
  cost = {'steps': 20, 'seconds': 2.0, 'cpu_seconds': 3.0, 'parameters': 9}
  for step in (0, 20, 20, 40):
    with run_folder.RunFolder(tmp_path) as folder:
      folder.describe('', {**_FACTS, 'step': step})
      if step in (0, 40):
        folder.spend(cost)  # the others are killed
      if step == 40:
        spent = folder.read_facts()['starts'][-1]['seconds']
        time.sleep(0.01)
        folder.finish({'final_score': 1.0})
  facts = folder.read_facts()
  assert [start.get('steps') for start in facts['starts']] == [
      20, None, None, 20]
  assert facts['starts'][-1]['seconds'] >= spent + 0.01
  assert facts['cost'] == {'steps': 40, 'seconds': 4.0, 'cpu_seconds': 6.0,
                           'parameters': 9}


def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path):
  (tmp_path / 'thesis.txt').write_text('mine')
  (tmp_path / 'pictures').mkdir()
  with pytest.raises(errors.UserError) as error:
    run_folder.RunFolder(tmp_path)
  assert 'something else (pictures and more): choose another' in str(
      error.value)
  assert sorted(path.name for path in tmp_path.iterdir()) == [
      'pictures', 'thesis.txt']


@pytest.mark.parametrize('names', [
    (), ('.lock',), ('.lock', 'notes.txt'), ('run.json', 'notes.txt'),
    ('sweep.json', 'train.log'), ('config.gin', '.run.json.new'),
    ('checkpoints', 'metrics.csv', 'tensorboard')])
def test_what_a_killed_process_or_a_sweep_left_is_no_obstacle(tmp_path, names):
  for name in names:
    (tmp_path / name).touch()
  with run_folder.RunFolder(tmp_path):
    assert (tmp_path / '.lock').is_file()
