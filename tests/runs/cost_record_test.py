"""What runs cost, from their folders."""
import json
import math

import pytest
import tensorflow as tf

from drvf_tf.report import comparison, cost_section, gathering
from drvf_tf.runs import cost_record
from tests.report import made_up_runs

_MACHINE = {'system': 'Linux', 'cpu': 'x86_64', 'processor': 'Fast One',
            'cores': 2}


def _cells(folder):
  rows = comparison.rows(gathering.gather([str(folder)])[0])
  _, table = cost_section.costs(rows)
  return [dict(zip(table.header, cells)) for cells in table.rows], table


def test_means_over_seeds_by_hand(tmp_path):
  for seed, seconds in enumerate((2.0, 3.0)):
    made_up_runs.write(
        tmp_path / f'{seed}', seed, [[1.0]], [2.0], machine=_MACHINE,
        cost={'steps': 60, 'seconds': seconds, 'cpu_seconds': 6.0 * seconds,
              'parameters': 1_234_567, 'gpus': []})
  (cells,), table = _cells(tmp_path)
  assert cells['steps/s'] == '25.0'  # of 30 and 20
  assert cells['CPU ms a step'] == '250.0'  # of 200 and 300
  assert cells['parameters'] == '1,234,567'
  assert cells['machine'] == 'Fast One, 2 cores'
  assert 'Machine: Fast One, 2 cores.' in table.caption
  assert '60 steps, 2 seeds' in table.caption
  assert not table.published  # none of the paper's numbers


def test_older_folders_tell_less(tmp_path):
  made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0])
  (cells,), _ = _cells(tmp_path)
  assert cells['steps/s'] == '0.0'  # 60 steps in 30 minutes
  assert cells['CPU ms a step'] == cells['parameters'] == '–'
  facts = json.loads((tmp_path / 'a' / 'run.json').read_text())
  cost = cost_record.read(tmp_path / 'a', facts, 60, 30.0)
  assert cost.steps_per_second == pytest.approx(60 / 1800)
  stopped = cost_record.read(tmp_path / 'a', facts, 60, math.nan)
  assert math.isnan(stopped.steps_per_second)


def test_parameters_of_older_folders_are_counted_in_a_checkpoint(tmp_path):
  folder = made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0])
  made_up_runs.write(tmp_path / 'damaged', 1, [[1.0]], [2.0])
  weights = tf.Variable(tf.zeros([3, 5]))
  optimizer = tf.keras.optimizers.legacy.Adam()
  optimizer.apply_gradients([(tf.ones([3, 5]), weights)])
  tf.train.Checkpoint(
      critic=weights, alpha=tf.Variable(1.0), _critic_optimizer=optimizer
  ).write(str(folder / 'checkpoints' / 'step_000000060' / 'ckpt'))
  damaged = tmp_path / 'damaged' / 'checkpoints' / 'step_000000060'
  damaged.mkdir(parents=True)
  (damaged / 'ckpt.index').write_text('half')
  (cells,), _ = _cells(tmp_path)
  assert cells['parameters'] == '15'
