"""The table's numbers, computed again from the raw returns."""
import numpy as np
import pytest

from drvf_tf.report import commands, comparison, gathering
from tests.report import made_up_runs

_LOW, _HIGH = 23.85, 161.86  # D4RL's reference returns of maze2d-umaze-v1


def _rows(folder):
  return comparison.rows(gathering.gather([str(folder)])[0])


def test_mean_and_std_over_seeds(tmp_path):
  # Twelve evaluations: the first two, which are huge, must not count.
  for seed, returns in enumerate(([10.0, 30.0], [50.0, 50.0], [80.0, 100.0])):
    made_up_runs.write(
        tmp_path / str(seed), seed,
        [[1e5, 1e5]] * 2 + [returns] * 9 + [[0.0, 0.0]],
        [returns[0], returns[1], 120.0])
  (row,) = _rows(tmp_path)
  assert row.seeds == (0, 1, 2)

  def score(value):
    return 100 * (value - _LOW) / (_HIGH - _LOW)

  last = [score(0.9 * 20), score(0.9 * 50), score(0.9 * 90)]
  final = [score(160 / 3), score(220 / 3), score(300 / 3)]
  np.testing.assert_allclose(row.last, last)
  np.testing.assert_allclose(row.final, final)
  mean, std = comparison.mean_and_std(row.final)
  assert mean == pytest.approx(sum(final) / 3)
  assert std == pytest.approx(
      (sum((value - mean) ** 2 for value in final) / 2) ** 0.5)
  assert comparison.plus_minus(row.final) == f'{mean:.1f} ± {std:.1f}'
  assert comparison.plus_minus([12.34]) == '12.3'
  assert row.budget == (
      "60 steps (2e-05 of the paper's 3M), batch 256, 1,000 rows, M 5, n 10, "
      'hidden (128, 128)')


def test_only_runs_of_one_configuration_are_seeds_of_a_row(tmp_path):
  for seed in (0, 1):
    made_up_runs.write(tmp_path / f'a{seed}', seed, [[1.0]], [2.0])
  fewer = made_up_runs.CONFIG.replace('num_samples = 10', 'num_samples = 2')
  made_up_runs.write(tmp_path / '_b', 0, [[1.0]], [2.0], config=fewer)
  threads = made_up_runs.CONFIG.replace('threads = 1', 'threads = 2')
  made_up_runs.write(tmp_path / 'c', 2, [[1.0]], [2.0], config=threads)
  compiled = (made_up_runs.CONFIG + 'Trainer.jit_compile = True\n'
              'configure_runtime.xla_fast_math = True\n'
              'EnsembleCriticNetwork.stacked = False\n')  # gin/xla.gin
  made_up_runs.write(tmp_path / 'x', 3, [[1.0]], [2.0], config=compiled)
  made_up_runs.write(tmp_path / 'd', 0, [[1.0]], [2.0], config=fewer,
                     dataset_hash='beef00')
  made_up_runs.write(tmp_path / 'e', 0, [[1.0]], [2.0], method='EDAC')
  assert [(row.method, row.seeds) for row in _rows(tmp_path)] == [
      ('DRVF', (0, 1, 2, 3)), ('DRVF, n=2, data abcdef', (0,)),
      ('DRVF, n=2, data beef00', (0,)), ('EDAC', (0,))]


def test_the_same_settings_on_other_data_are_another_row(tmp_path):
  for name, data in (('a', None), ('b', 'beef00')):
    facts = {'dataset_hash': data} if data else {}
    made_up_runs.write(tmp_path / name, 0, [[1.0]], [2.0], **facts)
  assert [row.method for row in _rows(tmp_path)] == [
      'DRVF, data abcdef', 'DRVF, data beef00']


def test_the_command_trains_the_row_again(tmp_path):
  made_up_runs.write(tmp_path / 'a', 4, [[1.0]], [2.0])
  made_up_runs.write(tmp_path / 'b', 5, [[1.0]], [2.0], method='EDAC',
                     command=['sweep.py', '--workers=2'])
  drvf, edac = _rows(tmp_path)
  assert drvf.command == (
      'python launch/train.py --gin_file=gin/quickstart.gin '
      '--gin_param=DRVFAgent.kl_scale=@kl_sum --seed=4')
  assert edac.command == (
      f'python launch/train.py --gin_file={tmp_path}/b/config.gin --seed=5')


def test_a_run_without_evaluations_has_final_scores_only(tmp_path):
  made_up_runs.write(tmp_path / 'a', 0, [], [_HIGH])
  (row,) = _rows(tmp_path)
  assert comparison.plus_minus(row.last) == '–'
  assert comparison.plus_minus(row.final) == '100.0'


def test_long_commands_are_folded_between_flags():
  command = 'python launch/train.py' + ' --gin_param="a.b=(1, 2)"' * 8
  folded = commands.fold(command)
  assert max(map(len, folded.split('\n'))) <= 104
  assert folded.replace(' \\\n  ', ' ') == command
  assert commands.fold('python x --seed=0') == 'python x --seed=0'


def test_a_budget_for_all_rows_of_a_figure(tmp_path):
  for name, units in (('a', '(128, 128)'), ('b', '(8, 8)')):
    made_up_runs.write(
        tmp_path / name, 0, [[1.0]], [2.0], method=name,
        config=made_up_runs.CONFIG.replace('(128, 128)', units))
  rows = _rows(tmp_path)
  assert comparison.common_budget(rows[:1]).endswith('hidden (128, 128).')
  assert comparison.common_budget(rows).startswith('Budget of all: 60 steps')
  assert 'hidden' not in comparison.common_budget(rows)
  assert comparison.circumstances(rows).endswith(
      '60 steps, 1 seed, 1 final episode a seed.')


def test_how_it_was_evaluated_names_no_variant(tmp_path):
  for seed, text in enumerate(('', 'Evaluation.final_episodes = 20\n',
                               'Evaluation.interval = 2000\n',
                               'Evaluation.num_episodes = 5\n')):
    made_up_runs.write(tmp_path / str(seed), seed, [[1.0]], [2.0] * (5 - seed),
                       config=made_up_runs.CONFIG + text)
  (row,) = _rows(tmp_path)
  assert (row.method, row.seeds, row.episodes) == ('DRVF', (0, 1, 2, 3), 2)


def test_a_run_as_its_gin_files_say_keeps_the_name(tmp_path):
  fewer = made_up_runs.CONFIG.replace('num_samples = 10', 'num_samples = 2')
  for seed in (0, 1):  # more seeds, and first by path
    made_up_runs.write(
        tmp_path / f'a{seed}', seed, [[1.0]], [2.0], config=fewer,
        command=['launch/train.py', '--gin_file=gin/quickstart.gin',
                 '--gin_param', 'DRVFAgent.num_samples=2'])
  made_up_runs.write(
      tmp_path / 'b', 0, [[1.0]], [2.0],
      command=['launch/train.py', '--gin_file=gin/quickstart.gin',
               '--gin_param=Evaluation.final_episodes=3'])
  assert [(row.method, row.seeds) for row in _rows(tmp_path)] == [
      ('DRVF', (0,)), ('DRVF, n=2', (0, 1))]


def test_a_record_older_than_a_parameter_is_a_seed_of_the_same_row(tmp_path):
  """Before first layers could be spread, all of them started alike."""
  today = made_up_runs.CONFIG + (
      'EnsembleCriticNetwork.input_bias_range = {spread}\n')
  made_up_runs.write(tmp_path / 'old', 0, [[1.0]], [1.0])
  for seed, spread in ((1, '0.0'), (2, '1.0')):
    made_up_runs.write(
        tmp_path / str(seed), seed, [[1.0]], [1.0],
        config=today.replace('{spread}', spread))
  rows = comparison.rows(gathering.gather([str(tmp_path)])[0])
  assert [row.seeds for row in rows] == [(0, 1), (2,)]
