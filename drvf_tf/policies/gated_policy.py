"""The gate: where the critic is less sure than on data, do something else."""
from typing import Callable, Optional

import tensorflow as tf
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step

from drvf_tf.policies import uncertainty_policy


class GatedPolicy(tf_policy.TFPolicy):
  """An `UncertaintyPolicy` with a threshold on q_std and a fallback.

  `info` gains `in_support`, false where q_std of the policy's own action is
  above the threshold, or where an input is NaN or infinite (a ReLU may turn
  NaN into a harmless 0). There, the fallback's action is given, if there is
  one. The statistics are always those of the policy's own action:
  they are why the gate is closed.
  """

  def __init__(self,
               policy: uncertainty_policy.UncertaintyPolicy,
               threshold: float = float('inf'),
               fallback: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
               name: Optional[str] = None):
    """Creates the policy.

    Args:
      policy: What acts where the gate is open.
      threshold: The largest q_std that counts as supported by the data.
      fallback: Raw observations to actions, a `tf.Module`; see `fallbacks`.
      name: Name of the policy.
    """
    super().__init__(
        policy.time_step_spec, policy.action_spec,
        info_spec={**policy.info_spec,
                   'in_support': tf.TensorSpec([], tf.bool, 'in_support')},
        name=name)
    self._inner = policy
    self._fallback = fallback
    self._threshold = tf.Variable(
        threshold, trainable=False, dtype=tf.float32, name='gate_threshold')

  @property
  def inner(self) -> uncertainty_policy.UncertaintyPolicy:
    """The policy behind the gate."""
    return self._inner

  def act(self, observation: tf.Tensor) -> dict[str, tf.Tensor]:
    """Action, statistics and in_support of raw observations, by name."""
    action = self._inner.greedy(observation)
    scores = self.score(observation, action)
    if self._fallback is not None:
      action = tf.where(scores['in_support'][:, tf.newaxis], action,
                        self._fallback(observation))
    return {'action': action, **scores}

  def score(self, observation: tf.Tensor,
            action: tf.Tensor) -> dict[str, tf.Tensor]:
    """Statistics and in_support of any pairs, by name, `[B]` each."""
    scores = self._inner.statistics(observation, action)
    in_support = scores['q_std'] <= self._threshold
    for values in (observation, action):
      finite = tf.abs(values) <= values.dtype.max  # false for NaN
      in_support &= tf.reduce_all(finite, axis=-1)
    return {**scores, 'in_support': in_support}

  def _variables(self):
    return [self._threshold, *self._inner.variables(),
            *getattr(self._fallback, 'variables', ())]

  def _action(self, time_step, policy_state, seed=None):
    del seed
    info = self.act(time_step.observation)
    return policy_step.PolicyStep(info.pop('action'), policy_state, info)

  def _distribution(self, time_step, policy_state):
    # A distribution in the SavedModel would need TensorFlow Probability to be
    # loaded.
    raise NotImplementedError('The gated policy is deterministic: use action.')
