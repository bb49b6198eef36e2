"""MSG (Ghasemipour et al., 2022): its conservative term."""
import math
from typing import Optional

import gin
import numpy as np
import tensorflow as tf

from drvf_tf.losses import ood_actions
from drvf_tf.losses import regularizers as base
from drvf_tf.networks import noise


def conservative_gap(q: tf.Tensor, log_density: tf.Tensor,
                     q_data: tf.Tensor) -> tf.Tensor:
  """MSG's CQL term: log Σ exp(Q_j(s, a) − log density(a)) − Q_j(data).

  Args:
    q: Q at A sampled actions of each state, `[M, A, B]`.
    log_density: Of the actions where they were sampled, `[A, B]`.
    q_data: Q at the data, `[M, B]`.

  Returns:
    Sum over members, `[B]`.
  """
  return tf.reduce_sum(
      tf.reduce_logsumexp(q - log_density, axis=1) - q_data, axis=0)


@gin.configurable
class ConservativeQ(base.Regularizer):
  """MSG: its CQL-like term, with policy and uniform actions."""

  name = 'conservative_gap'

  def __init__(self, weight: float = 1.0, num_actions: int = 1):
    """Creates it.

    Args:
      weight: Of the term, beside a Bellman error that is not halved.
      num_actions: Policy actions per state, and as many uniform ones.
    """
    if weight < 0:
      raise ValueError(f'weight must not be negative, not {weight}.')
    if num_actions < 1:
      raise ValueError(f'num_actions must be at least 1, not {num_actions}.')
    self._weight, self._num_actions = weight, num_actions

  def pairs(self, context: base.Context) -> Optional[base.Pairs]:
    """K policy actions, then K uniform ones, at each state: `[2·K·B, ·]`."""
    shape = [self._num_actions, noise.num_rows(context.actions),
             context.actions.shape[-1]]
    policy, log_pi = noise.sample_actions(
        context.policy(context.observations), context.draws.normal(shape))
    spec = context.action_spec
    uniform = ood_actions.uniform(
        context.policy, context.observations, context.actions, spec,
        self._num_actions, context.draws)
    volume = math.log(np.prod(
        np.broadcast_to(spec.maximum - spec.minimum, spec.shape)))
    actions = tf.stop_gradient(tf.concat([policy, uniform], axis=0))
    log_pi = tf.stop_gradient(
        tf.concat([log_pi, tf.fill(tf.shape(log_pi), -volume)], axis=0))
    return base.Pairs(
        tf.tile(context.observations, [2 * self._num_actions, 1]),
        tf.reshape(actions, [-1, shape[-1]]), log_pi)

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """weight · the gap, `[B]`."""
    del context
    assert seen.q is not None and seen.pairs is not None
    log_density = seen.pairs.log_pi  # [A, B]
    q = tf.reshape(seen.q.mean, [seen.q.mean.shape[0],
                                 *tf.unstack(tf.shape(log_density))])
    gap = conservative_gap(q, log_density, seen.data.mean)
    return self._weight * gap, gap
