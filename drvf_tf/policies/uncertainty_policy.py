"""The greedy policy that says how far its critic trusts each action."""
from typing import Any, Optional

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.networks import network
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.losses import backups
from drvf_tf.networks import statistics
from drvf_tf.policies import action_policy

STATISTICS = ('q_mean', 'q_std', 'q_std_within', 'q_std_between', 'q_lcb')


class UncertaintyPolicy(action_policy.ActionPolicy):
  """Greedy actions on raw observations, with closed-form statistics of Q.

  `action(time_step).info` holds, for the action that was chosen, `[B]` each:
  q_mean, q_std, q_std_within (posteriors), q_std_between (members), and
  q_lcb = q_mean − α·q_std, what the minimum of M·n samples is on average.
  Nothing is drawn: the same observation has the same answer. It owns the
  critic too, so that it can be saved.
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
        time_step_spec, action_spec, actor_network, observation_mean,
        observation_std, _info_spec(), name)
    self._critic_network = critic_network
    self._num_samples = num_samples
    self._alpha = backups.lcb_coefficient(
        critic_network.num_members * num_samples)
    self._score = tf.function(
        self._statistics, input_signature=self.batched_specs(),
        autograph=False)

  @property
  def lcb_alpha(self) -> float:
    """α of q_lcb."""
    return self._alpha

  def statistics(self, observation: tf.Tensor,
                 action: tf.Tensor) -> dict[str, tf.Tensor]:
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

  def draw(self, observation: tf.Tensor, action: tf.Tensor,
           seed: tf.Tensor) -> tf.Tensor:
    """One draw of every member's Q at pairs, `[M, B]`: M functions a seed."""
    q, _ = self._critic_network(
        (self._normalized(observation), action), num_samples=1, seed=seed)
    return q.samples[..., 0]

  def _variables(self):
    return [*super()._variables(), *self._critic_network.variables]

  def _action(self, time_step, policy_state, seed=None):
    del seed
    action = self.greedy(time_step.observation)
    info = self.statistics(time_step.observation, action)
    return policy_step.PolicyStep(action, policy_state, info)

  def _distribution(self, time_step, policy_state):
    step = self._action(time_step, policy_state)
    return step._replace(
        action=tfp.distributions.Deterministic(step.action))


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
    raise errors.UserError(
        f'{type(agent).__name__} has no ensemble critic, so its policy has no '
        'uncertainty to report: export an agent of the EnsembleSacAgent '
        'family.')
  return UncertaintyPolicy(
      agent.time_step_spec, agent.action_spec, agent.acting_network,
      agent.critic_network, num_samples=agent.num_samples,
      observation_mean=None if dataset is None else dataset.observation_mean,
      observation_std=None if dataset is None else dataset.observation_std)


def knows_uncertainty(agent: Any) -> bool:
  """Whether `of_agent` can make a policy of an agent."""
  return (hasattr(agent, 'actor_network') and hasattr(agent, 'num_samples')
          and hasattr(getattr(agent, 'critic_network', None), 'uncertainty'))


def _info_spec() -> dict[str, tf.TensorSpec]:
  return {name: tf.TensorSpec([], tf.float32, name) for name in STATISTICS}
