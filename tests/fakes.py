"""Small specs, batches and agents that tests share."""
import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts

from drvf_tf.agents import drvf_agent
from drvf_tf.networks import actor_network, ensemble_critic_network

OBSERVATION_SPEC = tensor_spec.TensorSpec([3], tf.float32, 'observation')
ACTION_SPEC = tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, 1.0,
                                            'action')
TIME_STEP_SPEC = ts.time_step_spec(OBSERVATION_SPEC)
CRITIC_SPEC = (OBSERVATION_SPEC, ACTION_SPEC)


def arrays(size=8, seed=0):
  """(observations, actions, rewards, discounts, next observations)."""
  rng = np.random.default_rng(seed)
  return (rng.normal(size=[size, 3]).astype(np.float32),
          rng.uniform(-0.9, 0.9, size=[size, 2]).astype(np.float32),
          rng.normal(size=[size]).astype(np.float32),
          (rng.uniform(size=[size]) < 0.8).astype(np.float32),
          rng.normal(size=[size, 3]).astype(np.float32))


def transition(size=8, seed=0):
  """A batch as TF-Agents' `Transition`."""
  observations, actions, rewards, discounts, next_observations = arrays(
      size, seed)
  step_type = tf.ones([size], tf.int32)
  return trajectory.Transition(
      ts.TimeStep(step_type, tf.zeros([size]), tf.ones([size]),
                  tf.constant(observations)),
      # In s' the same again, where a method looks at it.
      policy_step.PolicyStep(
          tf.constant(actions), (), {'next_action': tf.constant(actions)}),
      ts.TimeStep(step_type, tf.constant(rewards), tf.constant(discounts),
                  tf.constant(next_observations)))


def transition_with_nan(where, size=8):
  """A batch whose observation, action, reward or next observation is NaN."""
  step, action_step, next_step = transition(size)
  nan = lambda x: x + np.nan  # noqa: E731
  if where == 'observation':
    step = step._replace(observation=nan(step.observation))
  elif where == 'action':
    action_step = action_step._replace(action=nan(action_step.action))
  elif where == 'reward':
    next_step = next_step._replace(reward=nan(next_step.reward))
  else:
    next_step = next_step._replace(observation=nan(next_step.observation))
  return trajectory.Transition(step, action_step, next_step)


def on_two_replicas(agent_class):
  """(agent, its train step on a global batch) under two CPU replicas.

  Args:
    agent_class: Makes the agent.

  Returns:
    The agent, and a function from a batch to the metrics of both replicas.
  """
  strategy = tf.distribute.MirroredStrategy(
      ['CPU:0', 'CPU:1'],
      # Collectives of several strategies in one process get mixed up.
      cross_device_ops=tf.distribute.ReductionToOneDevice())
  with strategy.scope():
    agent = agent_class()

  @tf.function
  def train(halves):
    return strategy.run(agent.train, (halves,))

  def step(batch):
    halves = strategy.experimental_distribute_values_from_function(
        lambda context: tf.nest.map_structure(
            lambda t: tf.split(t, 2)[context.replica_id_in_sync_group], batch))
    return {name: strategy.reduce('SUM', part, axis=None)
            for name, part in train(halves).extra.items()}

  return agent, step


def drvf(optimizer=None, num_members=3, hidden_units=(16, 16), layer_norm=True,
         l2=0.0, stacked=None, seed=0, **kwargs):
  """A small DRVF agent."""
  if optimizer is None:
    optimizer = lambda: tf.keras.optimizers.legacy.Adam(1e-3)  # noqa: E731
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      CRITIC_SPEC, num_members=num_members, hidden_units=hidden_units,
      layer_norm=layer_norm, l2=l2, stacked=stacked, seed=100 + seed)
  actor = actor_network.tanh_gaussian_actor(
      OBSERVATION_SPEC, ACTION_SPEC, hidden_units=hidden_units,
      seed=200 + seed)
  settings = dict(num_batches=10.0, eta_q=2.0, eta_ood=0.5, num_samples=4,
                  num_ood_actions=3)
  settings.update(kwargs)
  return drvf_agent.DRVFAgent(
      TIME_STEP_SPEC, ACTION_SPEC, critic, actor, optimizer(), optimizer(),
      optimizer(), seed=seed, **settings)
