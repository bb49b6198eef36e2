"""The shipped gin files of the baselines, over any task's file."""
import pathlib

import gin
import pytest

from drvf_tf.agents import build_baselines
from drvf_tf.runs import configuration
from tests import fakes

_GIN = pathlib.Path(__file__).parents[2] / 'gin'
_FILES = ('bc', 'filtered_bc', 'td3_bc', 'td3_bc_antmaze', 'td3_bc_maze2d',
          'iql', 'iql_antmaze', 'iql_maze2d', 'cql', 'cql_antmaze',
          'cql_maze2d', 'rebrac', 'rebrac_antmaze', 'rebrac_maze2d')
_TASKS = {'antmaze': 'antmaze_medium_play', 'maze2d': 'quickstart'}
_CLASSES = {'bc': 'BcAgent', 'filtered': 'BcAgent', 'td3': 'Td3BcAgent',
            'iql': 'IqlAgent', 'cql': 'CqlAgent', 'rebrac': 'ReBracAgent'}

# What the authors publish, by file: see each file's first comment.
_PUBLISHED = {
    'td3_bc': {'Td3BcAgent.alpha': 2.5,
               'build_td3_bc.actor_update_period': 2},
    'iql': {'IqlAgent.expectile': 0.7, 'IqlAgent.temperature': 3.0},
    'iql_antmaze': {'IqlAgent.expectile': 0.9, 'IqlAgent.temperature': 10.0,
                    'affine_reward.scale': 1.0, 'affine_reward.offset': 1.0,
                    'loading.load.method_transforms': ()},
    'iql_maze2d': {'IqlAgent.expectile': 0.7, 'affine_reward.scale': 1.0,
                   'affine_reward.offset': 0.0},
    'cql': {'CqlAgent.cql_alpha': 10.0, 'CqlAgent.num_cql_samples': 10,
            'build_cql.actor_learning_rate': 1e-4,
            'CqlAgent.use_lagrange_cql_alpha': False},
    'cql_antmaze': {'CqlAgent.use_lagrange_cql_alpha': True,
                    'affine_reward.scale': 4.0, 'affine_reward.offset': 0.5},
    'rebrac': {'LARGE_BATCH/macro.value': 1_024, 'Td3BcAgent.gamma': 0.99,
               'build_td3_bc.critic_learning_rate': 1e-3,
               'baseline_critic.layer_norm': True},
    'rebrac_antmaze': {'train_eval.batch_size': 256, 'Td3BcAgent.gamma': 0.999,
                       'build_td3_bc.actor_learning_rate': 3e-4,
                       'build_td3_bc.critic_learning_rate': 5e-5,
                       'affine_reward.scale': 100.0,
                       'affine_reward.offset': 0.0},
    'rebrac_maze2d': {'affine_reward.scale': 1.0},
    'filtered_bc': {'best_episodes.fraction': 0.1},
}


@pytest.mark.parametrize('name', _FILES)
def test_a_file_builds_its_agent_over_a_task(name):
  lines = (_GIN / 'baselines' / f'{name}.gin').read_text().splitlines()
  assert lines[0].startswith('# ')
  task = _TASKS.get(name.split('_')[-1], 'hopper_medium')
  configuration.parse(
      [f'gin/{task}.gin', f'gin/baselines/{name}.gin'],
      ['baseline_actor.hidden_units=(8, 8)',
       'baseline_critic.hidden_units=(8, 8)'])
  for parameter, value in _PUBLISHED.get(name, {}).items():
    assert gin.query_parameter(parameter) == value, parameter
  build = gin.get_bindings('train_eval')['agent']
  agent = build(fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0,
                seed=1)
  assert type(agent).__name__ == _CLASSES[name.split('_')[0]]
  widths = {v.shape[-1] for v in agent.actor_network.variables}
  assert 8 in widths and 256 not in widths


def test_iqls_schedule_ends_with_the_run():
  configuration.parse(['gin/hopper_medium.gin', 'gin/baselines/iql.gin'],
                      ['train_eval.num_steps=1234'])
  assert build_baselines.steps_of_run() == 1234
  build = gin.get_bindings('train_eval')['agent']
  agent = build(fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0)
  schedule = agent._actor_optimizer.learning_rate
  assert float(schedule(0)) == pytest.approx(3e-4)
  assert float(schedule(617)) == pytest.approx(1.5e-4)
  assert float(schedule(1234)) == 0.0
