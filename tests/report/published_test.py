"""The shipped numbers are the paper's, to the letter."""
import pytest

from drvf_tf.report import published


@pytest.mark.parametrize('table, row', [
    ('gym_mujoco', 'halfcheetah-r | 17.5 ± 1.7 | 10.8 ± 1.6 | 12.6 ± 2.1 | '
     '35.9 ± 2.9 | 38.8 ± 3.7 | 4.8 | 2.3 ± 0.0 | 13.1 ± 1.2 | 27.7 ± 1.0 | '
     '28.0 ± 0.9 | 30.9 ± 1.1'),
    ('gym_mujoco', 'hopper-e | 96.5 ± 31.4 | 108.9 ± 2.5 | 109.1 ± 3.2 | '
     '62.5 ± 29.0 | – | 111.5 | 110.5 ± 0.5 | 110.4 ± 0.3 | 109.8 ± 0.1 | '
     '110.3 ± 0.3 | 111.4 ± 1.2'),
    ('gym_mujoco', 'Average | 67.4 ± 10.2 | 67.3 ± 3.8 | 68.5 ± 3.5 | '
     '53.3 ± 16.3 | 66.8 ± 3.4 | 78.5 | 50.4 ± 2.7 | 76.7 ± 2.4 | 82.9 ± 2.2 '
     '| 82.5 ± 0.8 | 83.9 ± 2.4'),
    ('antmaze', 'umaze | 54.6 | 60.0 | 23.4 | 78.6 | 88.6 ± 0.5 | 94.2 ± 3.1'),
    ('antmaze', 'medium-play | 0.0 | 42.1 | 0.0 | 10.6 | 74.0 ± 3.6 | '
     '65.2 ± 14.4'),
    ('ablation_pbrl', 'hopper-m | 25.2 (M=5) | 102.2 (M=5) | '
     '102.0 ± 1.2 (M=5)'),
    ('ablation_only_bnn', 'walker2d-m | 90.3 ± 1.2 (M=10) | '
     '92.5 ± 0.8 (M=10) | 93.5 (M=20)'),
    ('ablation_repulsion', 'walker2d-m-r | 47.6 ± 48.2 | 96.1 ± 2.3'),
    ('ablation_ood_actions', 'walker2d-m-e | -0.4 ± 0.2 | 112.4 ± 1.1'),
    ('cost', 'hopper-m | runtime in s/epoch | 150.7 | 117.1 (N=500) | 25.5 | '
     '33.1'),
    ('cost', 'hopper-m | parameters | 2.8M | 135.8M (N=500) | 13.7M | 1.5M'),
])
def test_a_row_of_the_paper(table, row):
  _, rows = published.wide(published.table(table))
  assert row in [' | '.join(cells) for cells in rows]


def test_tables_are_whole_and_name_their_source():
  sizes = {name: len(published.wide(published.table(name))[1])
           for name in published.names()}
  assert sizes == {
      'gym_mujoco': 16, 'antmaze': 5, 'ablation_pbrl': 9,
      'ablation_only_bnn': 9, 'ablation_repulsion': 9,
      'ablation_ood_actions': 9, 'cost': 6, 'hyper_parameters': 19}
  for name in sizes:
    assert 'Diverse Randomized Value' in published.table(name).source


def test_scores_are_found_by_the_task_of_d4rl():
  assert published.score('hopper-medium-replay-v2', 'EDAC') == '100.8 ± 0.1'
  assert published.score('antmaze-umaze-diverse-v2', 'DRVF') == '59.4 ± 9.9'
  assert published.score('maze2d-umaze-v1', 'DRVF') is None


def test_averages_of_the_paper_are_those_of_its_rows_but_for_edac():
  cells = published.table('gym_mujoco').cells
  apart = {}
  for method in dict.fromkeys(cell['method'] for cell in cells):
    scores = [float(cell['score']) for cell in cells
              if cell['method'] == method and cell['task']]
    assert len(scores) == (12 if method == 'COMBO' else 15)
    printed = next(float(cell['score']) for cell in cells
                   if cell['method'] == method and not cell['task'])
    if abs(sum(scores) / len(scores) - printed) > 0.051:  # more than rounding
      apart[method] = (round(sum(scores) / len(scores), 1), printed)
  assert apart == {'EDAC': (82.1, 82.9)}
