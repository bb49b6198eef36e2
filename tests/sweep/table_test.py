"""Tables of made-up states, and a screen over made-up folders."""
import io
import os

from drvf_tf.sweep import screen, states, table
from tests.sweep import fakes

_RUNNING = states.State(states.Phase.RUNNING, 1_000, 4_600, 12.34)


def test_a_row_and_its_time_left(tmp_path):
  cell = fakes.cell(tmp_path, 'finish')
  assert table.row(cell, _RUNNING, speed=2.0) == (
      'task', 'finish', '0', 'running', '1,000', '4,600', '2.0', '12.3',
      '30 min')
  assert table.row(cell, states.State(states.Phase.NOT_STARTED)) == (
      'task', 'finish', '0', 'not started', '-', '-', '-', '-', '-')


def test_columns_line_up_and_commands_follow(tmp_path):
  todo = [fakes.cell(tmp_path, 'finish', seed) for seed in (0, 10)]
  found = [_RUNNING, states.State(states.Phase.FAILED, note='Mend it.\n+b')]
  lines = table.with_commands(todo, found)
  assert lines[0].index('step ') + 4 == lines[1].index('1,000') + 5
  assert lines[2] == '    ' + ' '.join(todo[0].command)
  assert lines[4:] == ['    Mend it.', '    +b',
                       '    ' + ' '.join(todo[1].command)]
  assert table.counts(found) == '2 runs: 1 running, 1 failed'


def test_durations():
  assert [table.duration(seconds) for seconds in (
      0, 59.9, 60, 3_599, 3_900, 47 * 3_600, 76 * 3_600)] == [
          '0 s', '59 s', '1 min', '59 min', '1 h 05 min', '47 h 00 min',
          '3 d 4 h']


def test_speed_forgets_rows_that_were_dropped():
  speed = screen.Speedometer()
  assert speed.value is None
  speed.update(100.0, 10)
  assert speed.value is None
  speed.update(100.5, 10)  # no new row
  speed.update(104.0, 30)
  assert speed.value == 5.0
  speed.update(110.0, 20)  # it resumes from a checkpoint
  assert speed.value is None
  speed.update(111.0, 30)
  assert speed.value == 10.0


def _folder(cell, **record):
  cell.run_dir.mkdir(parents=True)
  (cell.run_dir / 'config.gin').write_text('train_eval.num_steps = 60\n')
  states.write_record(cell.run_dir, record)


def _rows(cell, last, moment):
  (cell.run_dir / 'metrics.csv').write_text(f'step,loss\n{last},1.0\n')
  os.utime(cell.run_dir / 'metrics.csv', (moment, moment))


def test_screen_shows_what_runs(tmp_path):
  todo = [fakes.cell(tmp_path, 'finish', seed) for seed in range(4)]
  _folder(todo[0], started=1.0)
  _folder(todo[1], started=1.0, ended=2.0, failed='Mend it.')
  _folder(todo[2], started=1.0, ended=2.0)
  show = screen.Screen(todo, io.StringIO(), terminal=False)
  _rows(todo[0], 10, 1_000.0)
  show.lines()
  _rows(todo[0], 20, 1_005.0)
  header, row, counts = show.lines()
  assert header.split()[0] == 'task'
  assert row.split() == ['task', 'finish', '0', 'running', '20', '60', '2.0',
                         '-', '20', 's']
  assert counts == '4 runs: 1 running, 1 failed, 2 not started'


def test_a_terminal_keeps_the_table_in_place(tmp_path, monkeypatch):
  monkeypatch.setenv('COLUMNS', '20')
  monkeypatch.setenv('LINES', '5')
  todo = [fakes.cell(tmp_path, 'finish', seed) for seed in range(3)]
  for cell in todo:
    _folder(cell, started=1.0)
  stream = io.StringIO()
  show = screen.Screen(todo, stream, terminal=True)
  show.refresh()
  lines = stream.getvalue().splitlines()
  assert len(lines) == 4 and max(map(len, lines)) == 19
  assert lines[2] == '... and 2 more'
  show.say('event')
  assert stream.getvalue().endswith('\x1b[4A\x1b[Jevent\n')


def test_elsewhere_lines_come_once_a_minute(tmp_path):
  stream = io.StringIO()
  show = screen.Screen([fakes.cell(tmp_path, 'finish')], stream, terminal=False)
  show.say('event')
  show.refresh()
  show.close()
  assert stream.getvalue() == 'event\n'
