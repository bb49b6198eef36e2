"""Rows on disk, and how they are rewound."""
import json

from drvf_tf.runs import records


def _row(step, final=False):
  return {'step': step, 'final': final, 'score': 1.0, 'mean_return': 2.0}


def test_rows_can_be_read_back(tmp_path):
  rows = records.Records(tmp_path, step=0)
  rows.add_metrics(10, {'b': 0.1, 'a': 1e-7})
  rows.add_metrics(20, {'b': 1 / 3, 'a': 2.0})
  rows.add_evaluation(_row(20))
  rows.close()
  assert (tmp_path / 'metrics.csv').read_text().startswith('step,a,b\n10,')
  assert rows.metrics() == {
      'step': [10.0, 20.0], 'a': [1e-7, 2.0], 'b': [0.1, 1 / 3]}
  assert rows.evaluations() == [_row(20)]


def test_rows_after_the_checkpoint_and_half_rows_are_dropped(tmp_path):
  first = records.Records(tmp_path, step=0)
  for step in (10, 20, 30):
    first.add_metrics(step, {'a': float(step)})
    first.add_evaluation(_row(step))
  first.close()
  for name in ('metrics.csv', 'evaluations.jsonl'):
    with open(tmp_path / name, 'a', encoding='utf-8') as file:
      file.write('{"ste')
  second = records.Records(tmp_path, step=20)
  second.close()
  assert second.metrics()['step'] == [10, 20]
  assert [row['step'] for row in second.evaluations()] == [10, 20]


def test_a_run_killed_before_its_first_checkpoint_starts_clean(tmp_path):
  first = records.Records(tmp_path, step=0)
  first.add_metrics(10, {'a': 1.0})
  first.close()
  records.Records(tmp_path, step=0).close()
  assert not (tmp_path / 'metrics.csv').exists()


def test_a_window_survives_json_exactly():
  values = [0.1, 1 / 3, 2e-17, 5.0]
  whole, first = records.Window(), records.Window()
  for value in values:
    whole.add({'a': value})
  for value in values[:2]:
    first.add({'a': value})
  second = records.Window(json.loads(json.dumps(first.state())))
  for value in values[2:]:
    second.add({'a': value})
  assert second.means() == whole.means()
