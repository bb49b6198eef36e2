"""What runs cost, from their folders."""
import math

import pytest

from drvf_tf.report import comparison, cost_section, gathering
from drvf_tf.runs import cost_record
from tests.report import made_up_runs


def _rows(folder):
  return comparison.rows(gathering.gather([str(folder)])[0])


def _cells(folder):
  _, table = cost_section.costs(_rows(folder))
  return [dict(zip(table.header, cells)) for cells in table.rows], table


def _facts(**cost):
  return {'starts': [{'step': 0}], 'machine': made_up_runs.MACHINE,
          'cost': {**made_up_runs.COST, **cost}}


def test_means_over_seeds_by_hand(tmp_path):
  for seed, seconds in enumerate((2.0, 3.0)):
    made_up_runs.write(
        tmp_path / f'{seed}', seed, [[1.0]], [2.0],
        cost={**made_up_runs.COST, 'seconds': seconds,
              'cpu_seconds': 6.0 * seconds})
  (cells,), table = _cells(tmp_path)
  assert cells['steps/s'] == '25.0'  # of 30 and 20
  assert cells['CPU ms a step'] == '250.0'  # of 200 and 300
  assert cells['parameters'] == '1,234,567'
  assert cells['machine'] == 'Fast One, 2 cores'
  assert 'Machine: Fast One, 2 cores.' in table.caption
  assert '60 steps, 2 seeds' in table.caption
  assert not table.published  # none of the paper's numbers


def test_minutes_of_a_resumed_run_are_the_sum_of_its_parts(tmp_path):
  starts = [{'step': 0, 'steps': 20, 'seconds': 90.0},
            {'step': 20},  # killed: its own part alone is lost
            {'step': 40, 'steps': 20, 'seconds': 60.0}]
  made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0], starts=starts)
  (row,) = _rows(tmp_path)
  assert row.minutes == 2.5


def test_what_no_process_lived_to_note_is_not_known():
  cost = cost_record.read(_facts(steps=0))
  assert math.isnan(cost.minutes)
  assert math.isnan(cost.steps_per_second)
  assert math.isnan(cost.cpu_ms_per_step)


def test_the_cost_of_processes_adds_up():
  part = made_up_runs.COST
  twice = cost_record.add(cost_record.add({}, part), part)
  assert twice == {**part, 'steps': 120, 'seconds': 4.0, 'cpu_seconds': 24.0}
  assert cost_record.read(_facts(**twice)).steps_per_second == pytest.approx(30)


def test_a_machine_that_does_not_name_its_processor():
  facts = _facts(gpus=['Big One'])
  facts['machine'] = {**facts['machine'], 'processor': None}
  assert cost_record.read(facts).machine == 'x86_64, 2 cores, Big One'
