"""ReBRAC: TD3+BC with a penalty of its own in the actor and in the target."""
from typing import Any

import gin
import tensorflow as tf
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import agent_parts, td3_bc_agent
from drvf_tf.losses import baselines

_KEY = 'next_action'


@gin.configurable
class ReBracAgent(td3_bc_agent.Td3BcAgent):
  """Tarasov et al. (2023).

  The actor minimises β₁ |π(s) − a|² − Q(s, π(s)) / mean |Q|; the target is
  r + γ (min Q'(s', ã) − β₂ |ã − a'|²), where ã is the target policy's action,
  smoothed, and a' the one that was recorded in s'.
  """

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               learners: agent_parts.ActorAndCritics,
               beta_1: float = gin.REQUIRED,
               beta_2: float = gin.REQUIRED,
               **kwargs: Any):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment; one observation vector.
      action_spec: One bounded, continuous action vector.
      learners: As `Td3BcAgent` has them.
      beta_1: β₁, the actor's penalty.
      beta_2: β₂, the critics' penalty.
      **kwargs: Of `Td3BcAgent`.
    """
    for name, value in (('beta_1', beta_1), ('beta_2', beta_2)):
      if value < 0:
        raise ValueError(f'{name} must not be negative, not {value}.')
    super().__init__(time_step_spec, action_spec, learners, **kwargs)
    self._beta_1, self._beta_2 = beta_1, beta_2

  def _as_batch(self, experience: Any) -> trajectory.Transition:
    """The batch, a' in its action step's info."""
    if isinstance(experience, trajectory.Trajectory):
      following = experience.action[:, 1]
    elif _KEY in experience.action_step.info:
      following = experience.action_step.info[_KEY]
    else:
      raise ValueError(
          'ReBRAC needs the next action of each row: set '
          'loading.load.method_transforms = (@next_actions,).')
    batch = super()._as_batch(experience)
    return batch._replace(action_step=policy_step.PolicyStep(
        batch.action_step.action, (), {_KEY: following}))

  def _target_penalty(self, batch: trajectory.Transition,
                      actions: tf.Tensor) -> tf.Tensor:
    return self._beta_2 * baselines.squared_distance(
        actions, batch.action_step.info[_KEY])

  def _actor_value(self, pairs: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
    """The lower of the two critics."""
    return tf.minimum(self._critic_network_1(pairs)[0],
                      self._critic_network_2(pairs)[0])

  def _actor_objective(self, q: tf.Tensor, mean_abs_q: tf.Tensor,
                       own_actions: tf.Tensor,
                       actions: tf.Tensor) -> tf.Tensor:
    return baselines.rebrac_objective(
        q, mean_abs_q, own_actions, actions, self._beta_1)
