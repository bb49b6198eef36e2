"""Regularizers of the other methods of the family: EDAC, PBRL, MSG."""
import math
from typing import Callable, Optional, Tuple

import gin
import numpy as np
import tensorflow as tf

from drvf_tf.losses import family_terms, noise, ood_actions
from drvf_tf.losses import regularizers as base


@gin.configurable
class GradientDiversity(base.Regularizer):
  """EDAC: members' ∂Q/∂a at the data's actions shall not be parallel."""

  name = 'gradient_similarity'

  def __init__(self, eta: float = 1.0):
    """Creates it.

    Args:
      eta: η of EDAC.
    """
    if eta < 0:
      raise ValueError(f'eta must not be negative, not {eta}.')
    self._eta = eta

  def loss(self, context: base.Context,
           seen: base.Seen) -> Tuple[tf.Tensor, tf.Tensor]:
    """η · similarity of min(M, dim A) members, drawn anew at each step.

    More directions than dim A cannot all differ: EDAC's code compares no more
    members than that, and at least two.

    Args:
      context: The batch and the networks.
      seen: Not used.

    Returns:
      (weighted loss, bare value), `[B]` each.
    """
    del seen
    gradients = context.critic.action_gradients(
        (context.observations, context.actions))  # [M, B, act]
    members, _, size = gradients.shape
    chosen = tf.random.experimental.stateless_shuffle(
        tf.range(members), context.draws.seed())[:min(members, max(size, 2))]
    similarity = family_terms.gradient_similarity(
        tf.gather(gradients, chosen))
    return self._eta * similarity, similarity


@gin.configurable
class OodPessimism(base.Regularizer):
  """PBRL: regression on pessimistic pseudo-targets at policy actions."""

  name = 'ood_pessimism'

  def __init__(self,
               schedule: Callable[[tf.Tensor], tf.Tensor] = (
                   family_terms.ood_schedule),
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
           seen: base.Seen) -> Tuple[tf.Tensor, tf.Tensor]:
    """Mean over both kinds of rows, sum over members."""
    assert seen.q is not None
    half = tf.ones([tf.shape(seen.q.mean)[1] // 2])
    weight = tf.concat([self._schedule(context.step) * half,
                        self._next_weight * half], axis=0)
    term = family_terms.pessimistic_regression(
        seen.q.mean, weight, self._floor)
    return term, term


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
    shape = [self._num_actions, tf.shape(context.actions)[0],
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
           seen: base.Seen) -> Tuple[tf.Tensor, tf.Tensor]:
    """weight · the gap, `[B]`."""
    del context
    assert seen.q is not None and seen.pairs is not None
    log_density = seen.pairs.log_pi  # [A, B]
    q = tf.reshape(seen.q.mean, [seen.q.mean.shape[0],
                                 *tf.unstack(tf.shape(log_density))])
    gap = family_terms.conservative_gap(q, log_density, seen.data.mean)
    return self._weight * gap, gap
