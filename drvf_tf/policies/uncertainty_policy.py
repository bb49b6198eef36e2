"""The greedy policy that says how far its critic trusts each action."""
from typing import Any, Dict, Optional, Tuple

import numpy as np
import tensorflow as tf
from tf_agents.distributions import utils as distribution_utils
from tf_agents.networks import network
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types
from tf_agents.utils import common

from drvf_tf import user_errors
from drvf_tf.data import offline_dataset
from drvf_tf.losses import backups, noise, statistics

STATISTICS = ('q_mean', 'q_std', 'q_std_within', 'q_std_between', 'q_lcb')


class UncertaintyPolicy(tf_policy.TFPolicy):
  """Greedy actions on raw observations, with closed-form statistics of Q.

  `action(time_step).info` holds, for the action that was chosen, `[B]` each:
  q_mean, q_std, q_std_within (posteriors), q_std_between (members), and
  q_lcb = q_mean − α·q_std, what the minimum of M·n samples is on average.
  Nothing is drawn: the same observation has the same answer. It owns actor,
  critic and the normalisation of observations, so that it can be saved.
  """

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               actor_network: network.Network,
               critic_network: network.Network,
               num_samples: int = 1,
               observation_mean: Optional[np.ndarray] = None,
               observation_std: Optional[np.ndarray] = None,
               name: Optional[str] = None):
    """Creates the policy; it follows the networks' variables.

    Args:
      time_step_spec: Of the environment, with raw observations.
      action_spec: One bounded vector.
      actor_network: Normalised observations to a tanh-Gaussian.
      critic_network: An `EnsembleCriticNetwork`.
      num_samples: n, for q_lcb, and for heads that have no closed form: they
        draw with one fixed seed.
      observation_mean: What the networks' observations were shifted by.
      observation_std: What they were divided by.
      name: Name of the policy.
    """
    super().__init__(
        time_step_spec, action_spec, info_spec=_info_spec(), name=name)
    shape = time_step_spec.observation.shape
    mean = np.zeros(shape) if observation_mean is None else observation_mean
    std = np.ones(shape) if observation_std is None else observation_std
    self._mean, self._std = (
        tf.Variable(values, trainable=False, dtype=tf.float32, name=label)
        for values, label in ((mean, 'observation_mean'),
                              (std, 'observation_std')))
    self._actor_network = actor_network
    self._critic_network = critic_network
    self._num_samples = num_samples
    self._alpha = backups.lcb_coefficient(
        critic_network.num_members * num_samples)
    # Traced once, however many functions of an export call them.
    pair = self.batched_specs()
    self._act = tf.function(
        self._greedy, input_signature=pair[:1], autograph=False)
    self._score = tf.function(
        self._statistics, input_signature=pair, autograph=False)

  @property
  def lcb_alpha(self) -> float:
    """α of q_lcb."""
    return self._alpha

  def batched_specs(self) -> Tuple[tf.TensorSpec, tf.TensorSpec]:
    """Of raw observations `[B, obs]` and of actions `[B, act]`."""
    observation, action = self.time_step_spec.observation, self.action_spec
    return (
        tf.TensorSpec([None, *observation.shape], tf.float32, 'observation'),
        tf.TensorSpec([None, *action.shape], tf.float32, 'action'))

  def greedy(self, observation: tf.Tensor) -> tf.Tensor:
    """The most likely action, `[B, obs]` to `[B, act]`."""
    return self._act(observation)

  def _greedy(self, observation):
    distribution, _ = self._actor_network(self._normalized(observation))
    return common.clip_to_spec(distribution.mode(), self.action_spec)

  def sample(self, observation: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """The stochastic policy: a pure function of observations and seed.

    Args:
      observation: Raw, `[B, obs]`.
      seed: int32 `[2]`.

    Returns:
      `[B, act]`.
    """
    distribution, _ = self._actor_network(self._normalized(observation))
    shape = [tf.shape(observation)[0], *self.action_spec.shape]
    # One algorithm by name: the default differs between devices.
    draws = tf.random.stateless_normal(shape, seed, alg='philox')
    actions, _ = noise.sample_actions(distribution, draws)
    return common.clip_to_spec(actions, self.action_spec)

  def statistics(self, observation: tf.Tensor,
                 action: tf.Tensor) -> Dict[str, tf.Tensor]:
    """What the critic knows of Q at any pairs; `STATISTICS`, `[B]` each."""
    return self._score(observation, action)

  def _statistics(self, observation, action):
    # With a seed the head's draws are stateless ops that nothing reads: a
    # graph leaves them out.
    q, _ = self._critic_network(
        (self._normalized(observation), action),
        num_samples=self._num_samples, seed=tf.zeros([2], tf.int32))
    stats = statistics.q_statistics(q.mean, q.variance)
    return {
        'q_mean': stats.mean,
        'q_std': stats.std,
        'q_std_within': stats.std_within,
        'q_std_between': stats.std_between,
        'q_lcb': stats.mean - self._alpha * stats.std,
    }

  def _normalized(self, observation: tf.Tensor) -> tf.Tensor:
    return (observation - self._mean) / self._std

  def _variables(self):
    return [self._mean, self._std, *self._actor_network.variables,
            *self._critic_network.variables]

  def _action(self, time_step, policy_state, seed=None):
    del seed
    action = self.greedy(time_step.observation)
    info = self.statistics(time_step.observation, action)
    return policy_step.PolicyStep(action, policy_state, info)

  def _distribution(self, time_step, policy_state):
    step = self._action(time_step, policy_state)
    return step._replace(
        action=distribution_utils.tfp.distributions.Deterministic(step.action))


def of_agent(agent: Any,
             dataset: Optional[offline_dataset.OfflineDataset] = None
             ) -> UncertaintyPolicy:
  """The policy of an ensemble agent.

  Args:
    agent: An `EnsembleSacAgent`.
    dataset: What it was trained on; its normalisation is the policy's too.

  Returns:
    The policy, which follows the agent's variables.

  Raises:
    UserError: The agent has no critic that knows its uncertainty.
  """
  if not knows_uncertainty(agent):
    raise user_errors.UserError(
        f'{type(agent).__name__} has no ensemble critic, so its policy has no '
        'uncertainty to report: export an agent of the EnsembleSacAgent '
        'family.')
  return UncertaintyPolicy(
      agent.time_step_spec, agent.action_spec, agent.actor_network,
      agent.critic_network, num_samples=agent.num_samples,
      observation_mean=None if dataset is None else dataset.observation_mean,
      observation_std=None if dataset is None else dataset.observation_std)


def knows_uncertainty(agent: Any) -> bool:
  """Whether `of_agent` can make a policy of an agent."""
  return (hasattr(agent, 'actor_network') and hasattr(agent, 'num_samples')
          and hasattr(getattr(agent, 'critic_network', None), 'uncertainty'))


def _info_spec() -> Dict[str, tf.TensorSpec]:
  return {name: tf.TensorSpec([], tf.float32, name) for name in STATISTICS}
