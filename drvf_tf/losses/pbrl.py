"""PBRL (Bai et al., 2022): pessimistic pseudo-targets at OOD actions."""
import math
from typing import Callable, Optional

import gin
import tensorflow as tf

from drvf_tf.losses import ood_actions
from drvf_tf.losses import regularizers as base
from drvf_tf.networks import statistics


def pessimistic_regression(q: tf.Tensor, weight: tf.Tensor,
                           floor: float) -> tf.Tensor:
  """PBRL (Bai et al., 2022), Eq. (8): (Q_j − T̂_ood Q_j)² at OOD pairs.

  T̂_ood Q_j = max(Q_j − β_ood·Std between members, floor), no gradient.

  Args:
    q: Q at OOD pairs, `[M, R]`.
    weight: β_ood of each row, `[R]`.
    floor: Pseudo-targets are not lower.

  Returns:
    Sum over members, `[R]`.
  """
  target = tf.maximum(q - weight * statistics.between_std(q), floor)
  return tf.reduce_sum(tf.square(q - tf.stop_gradient(target)), axis=0)


@gin.configurable
def ood_schedule(step: tf.Tensor,
                 start: float = 5.0,
                 knee: float = 1.0,
                 knee_step: int = 50_000,
                 end: float = 0.2,
                 end_step: int = 1_000_000) -> tf.Tensor:
  """PBRL's β_ood: a line from `start` to `knee`, then a decay to `end`.

  PBRL's code divides β_ood by 1.01 whenever Q has sunk, until 0.2; here the
  decay is exponential in the step, because a run must be a function of it.

  Args:
    step: The train step.
    start: At step 0.
    knee: At `knee_step`.
    knee_step: Where the line ends.
    end: From `end_step` on.
    end_step: Where the decay ends.

  Returns:
    A scalar.
  """
  step = tf.cast(step, tf.float32)
  line = start + (knee - start) * tf.minimum(step / knee_step, 1.0)
  along = tf.clip_by_value((step - knee_step) / (end_step - knee_step), 0., 1.)
  return tf.where(step < knee_step, line,
                  knee * tf.exp(math.log(end / knee) * along))


@gin.configurable
def constant_schedule(step: tf.Tensor, value: float = 2.0) -> tf.Tensor:
  """PBRL's β_ood on expert data: the same at every step."""
  del step
  return tf.constant(value)


@gin.configurable
class OodPessimism(base.Regularizer):
  """PBRL: regression on pessimistic pseudo-targets at policy actions."""

  name = 'ood_pessimism'

  def __init__(self,
               schedule: Callable[[tf.Tensor], tf.Tensor] = (
                   ood_schedule),
               next_weight: float = 0.1,
               floor: float = 0.0,
               num_actions: int = 10,
               batch_size: Optional[int] = None):
    """Creates it.

    Args:
      schedule: The train step to β_ood at the states s of the data.
      next_weight: β_ood at the next states s'.
      floor: Pseudo-targets are not lower; 0 where rewards are positive.
      num_actions: Policy actions per state.
      batch_size: How many states of the batch are used; None for all.
    """
    if num_actions < 1:
      raise ValueError(f'num_actions must be at least 1, not {num_actions}.')
    self._schedule, self._next_weight = schedule, next_weight
    self._floor, self._num_actions = floor, num_actions
    self._batch_size = batch_size

  def pairs(self, context: base.Context) -> Optional[base.Pairs]:
    """Policy actions at s, then at s': `[2·K·B, ·]`."""
    parts = base.spaced(self._batch_size, context.observations,
                        context.next_observations, context.actions)
    observations = [tf.tile(states, [self._num_actions, 1])
                    for states in parts[:2]]
    actions = [
        tf.reshape(ood_actions.from_policy(
            context.policy, states, parts[2], context.action_spec,
            self._num_actions, context.draws), [-1, parts[2].shape[-1]])
        for states in parts[:2]]
    return base.Pairs(tf.concat(observations, axis=0),
                      tf.concat(actions, axis=0))

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean over both kinds of rows, sum over members."""
    assert seen.q is not None
    half = tf.ones([tf.shape(seen.q.mean)[1] // 2])
    weight = tf.concat([self._schedule(context.step) * half,
                        self._next_weight * half], axis=0)
    term = pessimistic_regression(
        seen.q.mean, weight, self._floor)
    return term, term
