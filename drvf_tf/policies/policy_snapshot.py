"""The greedy policy of an agent, ready to be evaluated and exported."""
import os
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf
from tf_agents.agents.sac import tanh_normal_projection_network as tanh_normal
from tf_agents.networks import sequential
from tf_agents.policies import greedy_policy, policy_saver, tf_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf.agents import agent_parts
from drvf_tf.data import offline_dataset
from drvf_tf.networks import baseline_networks
from drvf_tf.policies import exporting, numpy_actor

_Arrays = tuple[np.ndarray, np.ndarray]


class Policy(NamedTuple):
  """The policy to evaluate.

  Attributes:
    snapshot: Gives a copy that worker processes can run by themselves, or
      None where the policy has no such form.
    act: The same policy on batches, in this process.
  """
  snapshot: Callable[[], Optional[numpy_actor.NumpyActor]]
  act: Callable[[np.ndarray], np.ndarray]


def greedy(agent: Any,
           dataset: offline_dataset.OfflineDataset) -> Policy:
  """The agent's greedy policy on raw observations.

  Args:
    agent: A TF-Agents agent.
    dataset: What it is trained on; its normalisation is the policy's too.

  Returns:
    The policy, which follows the agent's variables.
  """
  mean, std = _normalisation(dataset)
  return Policy(
      snapshot=lambda: _to_numpy(agent, mean, std),
      act=_batched(_RawObservations(agent, dataset)))


def save(agent: Any, dataset: offline_dataset.OfflineDataset,
         folder: pathlib.Path, config: str, facts: Mapping[str, Any]) -> None:
  """Writes the greedy policy on raw observations as a SavedModel.

  Args:
    agent: A TF-Agents agent; one that knows its uncertainty reports it.
    dataset: What it was trained on.
    folder: Written whole or not at all; an old one is replaced.
    config: The operative configuration.
    facts: What else the policy shall say about its origin.
  """
  shutil.rmtree(folder, ignore_errors=True)
  if hasattr(agent, 'actor_network'):
    exporting.export_policy(agent, str(folder), dataset, config=config,
                            facts=facts)
    return
  temporary = folder.with_name(f'.{folder.name}.new')
  shutil.rmtree(temporary, ignore_errors=True)
  policy_saver.PolicySaver(
      _RawObservations(agent, dataset), batch_size=None).save(str(temporary))
  os.rename(temporary, folder)


class _RawObservations(tf_policy.TFPolicy):
  """An agent's greedy policy that normalises what it sees."""

  def __init__(self, agent: Any, dataset: offline_dataset.OfflineDataset):
    self._wrapped = greedy_policy.GreedyPolicy(agent.policy)
    self._mean, self._std = _normalisation(dataset)
    super().__init__(agent.policy.time_step_spec, agent.policy.action_spec,
                     policy_state_spec=agent.policy.policy_state_spec,
                     automatic_state_reset=False)

  def _variables(self):
    return self._wrapped.variables()

  def _action(self, time_step, policy_state, seed):
    normalised = (time_step.observation - self._mean) / self._std
    return self._wrapped.action(
        time_step._replace(observation=normalised), policy_state, seed)

  def _distribution(self, time_step, policy_state):
    raise NotImplementedError('The policy is greedy.')


def _normalisation(dataset: offline_dataset.OfflineDataset) -> _Arrays:
  if dataset.observation_mean is None or dataset.observation_std is None:
    return (np.zeros(dataset.observation_size, np.float32),
            np.ones(dataset.observation_size, np.float32))
  return dataset.observation_mean, dataset.observation_std


def _batched(policy: tf_policy.TFPolicy
             ) -> Callable[[np.ndarray], np.ndarray]:

  @tf.function(autograph=False)
  def act(observations):
    batch = tf.shape(observations)[:1]
    return policy.action(ts.TimeStep(
        step_type=tf.fill(batch, ts.StepType.FIRST), reward=tf.zeros(batch),
        discount=tf.ones(batch), observation=observations)).action

  return lambda observations: act(tf.constant(observations)).numpy()


def _to_numpy(agent: Any, mean: np.ndarray,
              std: np.ndarray) -> Optional[numpy_actor.NumpyActor]:
  """The actor in NumPy, if it is dense ReLU layers and tanh of a mean."""
  if not hasattr(agent, 'actor_network'):
    return None
  network = agent_parts.acting_network(agent)
  if not isinstance(network, sequential.Sequential):
    return None
  *hidden, head = network.layers
  spec = agent.action_spec
  mean_layer = _mean_layer(head, spec.shape.num_elements())
  if mean_layer is None:
    return None
  if any(not isinstance(layer, tf.keras.layers.Dense)
         or layer.activation is not tf.keras.activations.relu
         for layer in hidden):
    return None
  low, high = (np.broadcast_to(bound, spec.shape).astype(np.float32)
               for bound in (spec.minimum, spec.maximum))
  return numpy_actor.NumpyActor(
      layers=[*map(_weights, hidden), mean_layer],
      centre=(high + low) / 2, radius=(high - low) / 2,
      observation_mean=mean, observation_std=std)


def _mean_layer(head: tf.keras.layers.Layer,
                size: int) -> Optional[_Arrays]:
  """The linear layer whose tanh, scaled, is the head's greedy action."""
  if isinstance(head, (baseline_networks.SquashedMean,
                       baseline_networks.GaussianHead)):
    return _weights(head.mean_layer)
  if isinstance(head, tanh_normal.TanhNormalProjectionNetwork):
    kernel, bias = _weights(head.layers[0])
    return kernel[:, :size], bias[:size]  # means come first, then log-stds
  return None


def _weights(layer: tf.keras.layers.Layer) -> _Arrays:
  return layer.kernel.numpy(), layer.bias.numpy()
