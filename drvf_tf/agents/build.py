"""From specs and gin to an agent with its networks and optimizers."""
from typing import Callable, Optional

import gin
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import adam, drvf_agent, rates
from drvf_tf.networks import actor_network as actor_lib
from drvf_tf.networks import ensemble_critic_network

Optimizer = Callable[[rates.Rate], types.Optimizer]


@gin.configurable
def build_agent(
    time_step_spec: ts.TimeStep,
    action_spec: types.NestedTensorSpec,
    num_batches: float,
    seed: int = 0,
    train_step_counter: Optional[tf.Variable] = None,
    agent_class: Callable[..., tf_agent.TFAgent] = drvf_agent.DRVFAgent,
    critic_class: Callable[..., tf.keras.layers.Layer] = (
        ensemble_critic_network.EnsembleCriticNetwork),
    actor_fn: Callable[..., tf.keras.layers.Layer] = (
        actor_lib.tanh_gaussian_actor),
    actor_learning_rate: rates.Rate = 3e-4,
    critic_learning_rate: rates.Rate = 3e-4,
    alpha_learning_rate: rates.Rate = 3e-4,
    actor_optimizer: Optimizer = adam.Adam,
    critic_optimizer: Optimizer = adam.Adam,
    alpha_optimizer: Optimizer = adam.Adam) -> tf_agent.TFAgent:
  """Builds networks, optimizers and the agent around them.

  Args:
    time_step_spec: Of the environment.
    action_spec: Of the environment.
    num_batches: Batches in an epoch, |D| / B.
    seed: Of initial weights and of all draws in training.
    train_step_counter: Counts train steps; the agent's own by default.
    agent_class: Constructor of the agent; its other arguments come from gin.
    critic_class: Constructor of the critic network.
    actor_fn: Constructor of the actor network.
    actor_learning_rate: Adam's, a number or a schedule (`rates`).
    critic_learning_rate: Adam's.
    alpha_learning_rate: Adam's.
    actor_optimizer: Constructor of an optimizer, from the learning rate.
    critic_optimizer: The same, of the critic.
    alpha_optimizer: The same, of the temperature.

  Returns:
    The agent.
  """
  observation_spec = time_step_spec.observation
  return agent_class(
      time_step_spec,
      action_spec,
      critic_network=critic_class(
          (observation_spec, action_spec), seed=10 * seed + 1_000),
      actor_network=actor_fn(
          observation_spec, action_spec, seed=10 * seed + 2_000),
      actor_optimizer=actor_optimizer(actor_learning_rate),
      critic_optimizer=critic_optimizer(critic_learning_rate),
      alpha_optimizer=alpha_optimizer(alpha_learning_rate),
      num_batches=num_batches,
      seed=seed,
      train_step_counter=train_step_counter)
