"""Every shipped gin file, and the paper's table to the letter."""
import pathlib

import gin
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.agents import build
from drvf_tf.envs import d4rl_tasks
from drvf_tf.runs import configuration

_GIN = pathlib.Path(__file__).parents[1] / 'gin'
_FILES = sorted(str(path.relative_to(_GIN.parent))
                for path in _GIN.rglob('*.gin'))
_PARTS = {'base', 'gym_mujoco', 'halfcheetah', 'hopper', 'walker2d', 'antmaze',
          'maze2d', 'cpu'}
# Nothing by themselves.
_OVERLAYS = {'paper', 'plain_actor', 'model_data', 'finetune',
             'fading_pessimism'}

# Table "Hyper-parameters of DRVF": M, η_q, η_ood, L2 decay, LayerNorm.
_TABLE = r"""
halfcheetah-random & 2 & 50 & 1 & 0.01 & F \\
halfcheetah-medium & 3 & 50 & 1 & 0.05 & F \\
halfcheetah-medium-replay & 3 & 50 & 1 & 0.05 & F \\
halfcheetah-medium-expert & 5 & 50 & 5 & 0 & T \\
halfcheetah-expert & 5 & 10 & 1 & 0 & T \\
walker2d-random & 5 & 50 & 5 & 0.5 & F \\
walker2d-medium & 5 & 5 & 3 & 0.003 & T \\
walker2d-medium-replay & 4 & 10 & 5 & 0.01 & T \\
walker2d-medium-expert & 5 & 20 & 5 & 0.001 & T \\
walker2d-expert & 3 & 10 & 5 & 0 & T \\
hopper-random & 5 & 10 & 1 & 0 & F \\
hopper-medium & 5 & 5 & 3 & 0 & T \\
hopper-medium-replay & 5 & 50 & 3 & 0 & T \\
hopper-medium-expert & 5 & 1 & 3 & 0 & T \\
hopper-expert & 5 & 1 & 3 & 0 & T \\
antmaze-umaze & 5 & 1 & 5 & 0 & T \\
antmaze-umaze-diverse & 10 & 1 & 10 & 0.001 & F \\
antmaze-medium-diverse & 10 & 1 & 10 & 0 & T \\
antmaze-medium-play & 10 & 1 & 10 & 0 & T \\
"""
_ROWS = [[cell.strip() for cell in line.rstrip(' \\').split('&')]
         for line in _TABLE.strip().splitlines()]


def _value(name):
  value = gin.query_parameter(name)
  if isinstance(value, gin.config.ConfigurableReference):
    return str(value)
  return value


def _macro(name):
  """The value of the macro that a parameter is bound to."""
  macro = gin.query_parameter(name)
  return gin.query_parameter(f'{str(macro).lstrip("%")}/macro.value')


@pytest.mark.parametrize('file', _FILES)
def test_every_file_parses(file):
  stem = pathlib.Path(file).stem
  task = ['gin/hopper_medium.gin'] if stem in _OVERLAYS else []
  configuration.parse([*task, file], ["TASK='x'"] if stem in _PARTS else [])


def test_the_papers_letter_alone_says_what_is_missing():
  with pytest.raises(errors.UserError, match='PAPER_\\w+ has no value'):
    configuration.parse(['gin/paper.gin'], [])


def test_a_part_alone_says_what_is_missing():
  with pytest.raises(errors.UserError, match='TASK has no value'):
    configuration.parse(['gin/antmaze.gin'], [])


@pytest.mark.parametrize('row', _ROWS, ids=lambda row: row[0])
def test_a_row_of_the_paper(row):
  name, members, eta_q, eta_ood, l2, layer_norm = row
  path = _GIN / f'{name.replace("-", "_")}.gin'
  lines = path.read_text().splitlines()
  assert len(lines) <= 10
  assert lines[0].startswith('#') and name in lines[0]
  configuration.parse([str(path)], [])
  assert _value('TASK/macro.value') == f'{name}-v2'
  assert _value('EnsembleCriticNetwork.layer_norm') is True
  assert 'normalize' in _value('loading.load.states')
  assert f'{name}-v2' in d4rl_tasks.task_names()

  gin.clear_config()
  configuration.parse([str(path), 'gin/paper.gin'], [])
  assert _macro('EnsembleCriticNetwork.num_members') == int(members)
  assert _macro('DRVFAgent.eta_q') == float(eta_q)
  assert _macro('DRVFAgent.eta_ood') == float(eta_ood)
  assert _macro('EnsembleCriticNetwork.l2') == float(l2)
  assert _macro('EnsembleCriticNetwork.layer_norm') == (layer_norm == 'T')
  assert _value('train_eval.num_steps') == 3_000_000
  assert 'raw' in _value('loading.load.states')
  assert 'unconstrained' in _value('EnsembleSacAgent.actor_constraint')
  assert _value('build_agent.actor_learning_rate') == 3e-4
  assert _value('build_agent.critic_learning_rate') == 3e-4
  assert str(_macro('DRVFAgent.backup')).endswith(
      'independent_minimum' if name.startswith('antmaze') else '@minimum')


def test_antmaze_rewards_are_transformed_in_the_data():
  configuration.parse(['gin/antmaze_umaze.gin'], [])
  assert 'affine_reward' in str(_value('loading.load.transforms'))
  assert (_value('affine_reward.scale'), _value('affine_reward.offset')) == (
      4.0, 0.5)


@pytest.mark.parametrize('file', [
    file for file in _FILES if pathlib.Path(file).stem not in _PARTS | _OVERLAYS
    and 'baselines' not in file])
def test_every_task_builds_its_agent(file):
  configuration.parse([file], [
      # Width does not change what is built, but how long it takes.
      'EnsembleCriticNetwork.hidden_units=(8, 8, 8)',
      'tanh_gaussian_actor.hidden_units=(8, 8, 8)'])
  observation_spec = tensor_spec.TensorSpec([4], tf.float32)
  agent = build.build_agent(
      ts.time_step_spec(observation_spec),
      tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, 1.0),
      num_batches=1000.0)
  assert agent.trainable_variables


def test_cpu_makes_any_task_affordable():
  configuration.parse(['gin/walker2d_medium.gin', 'gin/cpu.gin'], [])
  assert _value('DRVFAgent.ood_batch_size') == 32
  assert max(_value('EnsembleCriticNetwork.hidden_units')) <= 256
  assert len(_value('EnsembleCriticNetwork.hidden_units')) == 2
