"""MSG (Ghasemipour et al., 2022): its conservative term."""
import math
from collections.abc import Sequence
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


def proposals(context: base.Context, asked: Sequence[tf.Tensor],
              num_actions: int) -> base.Pairs:
  """Actions to estimate log ∫ exp Q(s, a) da with, and their densities.

  Args:
    context: Of the batch, whose states they are for.
    asked: States `[B, obs]` that the policy is asked at, for K actions each.
    num_actions: K; as many uniform ones come last.

  Returns:
    Pairs `[(len(asked) + 1)·K·B, ·]`, each at the batch's own state, with
    log-densities `[(len(asked) + 1)·K, B]`. No gradient reaches the policy.
  """
  spec = context.action_spec
  shape = [num_actions, noise.num_rows(context.actions),
           context.actions.shape[-1]]
  actions, log_pi = zip(*(
      noise.sample_actions(context.policy(states), context.draws.normal(shape))
      for states in asked))
  uniform = ood_actions.uniform(
      context.policy, context.observations, context.actions, spec,
      num_actions, context.draws)
  volume = math.log(np.prod(
      np.broadcast_to(spec.maximum - spec.minimum, spec.shape)))
  density = tf.fill(tf.shape(log_pi[0]), -volume)
  everything = tf.stop_gradient(tf.concat([*actions, uniform], axis=0))
  return base.Pairs(
      tf.tile(context.observations, [(len(asked) + 1) * num_actions, 1]),
      tf.reshape(everything, [-1, shape[-1]]),
      tf.stop_gradient(tf.concat([*log_pi, density], axis=0)))


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
    return proposals(context, [context.observations], self._num_actions)

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """weight · the gap, `[B]`."""
    q_data = seen.data.mean
    if context.data_weights is not None:  # only the data are raised
      q_data = q_data * context.data_weights
    assert seen.q is not None and seen.pairs is not None
    log_density = seen.pairs.log_pi  # [A, B]
    q = tf.reshape(seen.q.mean, [seen.q.mean.shape[0],
                                 *tf.unstack(tf.shape(log_density))])
    gap = conservative_gap(q, log_density, q_data)
    return self._weight * gap, gap
