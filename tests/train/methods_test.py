"""Sizes of methods, and what a step of them costs."""
import re

import tensorflow as tf

from drvf_tf import errors
from drvf_tf.benchmark import method_cost, model_cost
from drvf_tf.train import methods


def test_parameters_as_the_paper_counts_them():
  agent = methods.agent_of(['gin/walker2d_medium.gin',
                            'gin/baselines/sac_n.gin'])
  assert methods.parameters(agent) == 2_898_976


def test_operations_of_a_product():
  function = tf.function(tf.matmul).get_concrete_function(
      tf.TensorSpec([3, 5]), tf.TensorSpec([5, 7]))
  assert method_cost.operations(function) == 2 * 3 * 5 * 7


def test_an_overlay_has_its_effect_and_no_seconds_of_the_papers():
  shown = method_cost.run(
      ['drvf_3'], 1, ['gin/cpu.gin'],
      ['EnsembleCriticNetwork.hidden_units=(8,)', 'DRVFAgent.ood_batch_size=2',
       'tanh_gaussian_actor.hidden_units=(8,)'])
  head, line = shown.splitlines()
  assert 'paper' not in head
  weights = 3 * ((17 + 6) * 8 + 8 + 2 * (8 + 1))  # and as many of the target
  actor = 17 * 8 + 8 + 2 * (8 * 6 + 6)
  assert int(line.split()[-1].replace(',', '')) == 2 * weights + actor


def test_any_method_at_its_own_batch():
  row = method_cost.row_of('rebrac')
  assert row.files == ('gin/halfcheetah_medium.gin',
                       'gin/baselines/rebrac/halfcheetah_medium.gin')
  small = ['baseline_actor.hidden_units=(8,)',
           'baseline_critic.hidden_units=(8,)']
  cost = lambda *more: method_cost.candidate(  # noqa: E731
      row, bindings=[*small, *more]).flops
  assert cost() > 3 * cost('LARGE_BATCH=256')
  assert method_cost.row_of('drvf').files == ('gin/halfcheetah_medium.gin',)


def test_a_model_has_a_cost_of_its_own():
  shown = method_cost.run(
      ['mopo'], 1, ['gin/cpu.gin'],
      ['EnsembleCriticNetwork.hidden_units=(8,)',
       'tanh_gaussian_actor.hidden_units=(8,)', 'ModelBatches.rounds=1',
       'ModelBatches.rollout_batch=10', 'ModelFit.hidden_units=(8,)',
       'ModelFit.weight_decay=(0.0, 0.0)'])
  assert re.search(
      r'MOPO 2, halfcheetah: rollouts add \d\.\d CPU ms a step; the fit takes '
      r'\d+\.\d a step of its own, 20,000 steps at the most on 1,000,000 rows, '
      r'which is \d+ % of a run of 3,000,000 steps\.', shown)


def test_the_share_of_a_fit_by_hand():
  cost = model_cost.ModelCost(0.001, 0.02, 1_000, 3_000)
  # The fit 20 s, the run 3,000 · (0.004 + 0.001) = 15 s.
  assert '57 % of a run' in model_cost.sentence(cost, 0.004)


def test_an_unknown_method_is_named():
  try:
    method_cost.run(['nonsense'], rounds=1)
  except errors.UserError as error:
    assert 'nonsense' in str(error) and 'edac_10' in str(error)
    assert 'rebrac' in str(error)
  else:
    raise AssertionError
