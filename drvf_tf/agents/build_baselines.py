"""From specs and gin to the model-free baselines, for `train_eval.agent`."""
from typing import Callable, Optional

import gin
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.networks import network
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import (
  agent_parts,
  bc_agent,
  cql_agent,
  iql_agent,
  periodic_adam,
  td3_bc_agent,
)
from drvf_tf.networks import baseline_networks

_adam = tf.keras.optimizers.legacy.Adam


@gin.configurable
def steps_of_run() -> int:
  """`train_eval.num_steps`: for schedules that end with the run."""
  return gin.query_parameter('train_eval.num_steps')


@gin.configurable
def build_bc(time_step_spec: ts.TimeStep,
             action_spec: types.NestedTensorSpec,
             num_batches: float,
             seed: int = 0,
             train_step_counter: Optional[tf.Variable] = None,
             learning_rate: float = 3e-4) -> tf_agent.TFAgent:
  """Builds a `BcAgent`; the arguments are `train_eval`'s, then gin's."""
  del num_batches
  return bc_agent.BcAgent(
      time_step_spec, action_spec,
      _actor(time_step_spec, action_spec, baseline_networks.SquashedMean, seed),
      _adam(learning_rate), train_step_counter=train_step_counter)


@gin.configurable
def build_td3_bc(time_step_spec: ts.TimeStep,
                 action_spec: types.NestedTensorSpec,
                 num_batches: float,
                 seed: int = 0,
                 train_step_counter: Optional[tf.Variable] = None,
                 actor_learning_rate: float = 3e-4,
                 critic_learning_rate: float = 3e-4,
                 actor_update_period: int = 2,
                 agent_class: Callable[..., tf_agent.TFAgent] = (
                     td3_bc_agent.Td3BcAgent)) -> tf_agent.TFAgent:
  """Builds a `Td3BcAgent`; the arguments are `train_eval`'s, then gin's."""
  del num_batches
  return agent_class(
      time_step_spec, action_spec,
      _learners(time_step_spec, action_spec, baseline_networks.SquashedMean,
                seed, periodic_adam.PeriodicAdam(
                    actor_learning_rate, actor_update_period),
                _adam(critic_learning_rate)),
      target_update_period=actor_update_period,
      seed=seed, train_step_counter=train_step_counter)


@gin.configurable
def build_iql(time_step_spec: ts.TimeStep,
              action_spec: types.NestedTensorSpec,
              num_batches: float,
              seed: int = 0,
              train_step_counter: Optional[tf.Variable] = None,
              actor_learning_rate: float = 3e-4,
              critic_learning_rate: float = 3e-4,
              value_learning_rate: float = 3e-4,
              actor_decay_steps: int = 1_000_000) -> tf_agent.TFAgent:
  """Builds an `IqlAgent`; the arguments are `train_eval`'s, then gin's."""
  del num_batches
  return iql_agent.IqlAgent(
      time_step_spec, action_spec,
      _learners(time_step_spec, action_spec, baseline_networks.GaussianHead,
                seed, _adam(tf.keras.optimizers.schedules.CosineDecay(
                    actor_learning_rate, actor_decay_steps)),
                _adam(critic_learning_rate)),
      value_network=baseline_networks.baseline_critic(
          (time_step_spec.observation,), seed=10 * seed + 3_000),
      value_optimizer=_adam(value_learning_rate),
      train_step_counter=train_step_counter)


@gin.configurable
def build_cql(time_step_spec: ts.TimeStep,
              action_spec: types.NestedTensorSpec,
              num_batches: float,
              seed: int = 0,
              train_step_counter: Optional[tf.Variable] = None,
              actor_learning_rate: float = 1e-4,
              critic_learning_rate: float = 3e-4,
              alpha_learning_rate: float = 1e-4) -> tf_agent.TFAgent:
  """Builds a `CqlAgent`; the arguments are `train_eval`'s, then gin's."""
  del num_batches
  return cql_agent.CqlAgent(
      time_step_spec, action_spec,
      _learners(time_step_spec, action_spec,
                baseline_networks.tanh_normal_head, seed,
                _adam(actor_learning_rate), _adam(critic_learning_rate)),
      alpha_optimizer=_adam(alpha_learning_rate),
      seed=seed, train_step_counter=train_step_counter)


def _actor(time_step_spec: ts.TimeStep, action_spec: types.NestedTensorSpec,
           head: baseline_networks.Head, seed: int) -> network.Network:
  agent_parts.check_action_spec(action_spec)  # before a head stumbles over it
  return baseline_networks.baseline_actor(
      time_step_spec.observation, action_spec, head, seed=10 * seed + 2_000)


def _learners(time_step_spec: ts.TimeStep, action_spec: types.NestedTensorSpec,
              head: baseline_networks.Head, seed: int,
              actor_optimizer: types.Optimizer,
              critic_optimizer: types.Optimizer
              ) -> agent_parts.ActorAndCritics:
  actor = _actor(time_step_spec, action_spec, head, seed)
  first, second = (
      baseline_networks.baseline_critic(
          (time_step_spec.observation, action_spec), seed=10 * seed + start)
      for start in (1_000, 1_500))
  return agent_parts.ActorAndCritics(
      actor, (first, second), actor_optimizer, critic_optimizer)
