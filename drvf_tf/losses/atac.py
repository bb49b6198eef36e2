"""ATAC (Cheng et al., 2022): relative pessimism and the Bellman residual."""
from typing import Optional

import gin
import tensorflow as tf

from drvf_tf.losses import ood_actions
from drvf_tf.losses import regularizers as base


def relative_value(q_policy: tf.Tensor, q_data: tf.Tensor) -> tf.Tensor:
  """ATAC's L_μ: Σ_j Q_j(s, π(s)) − Q_j(s, a), `[M, B]` each to `[B]`."""
  return tf.reduce_sum(q_policy - q_data, axis=0)


def bellman_residual(q: tf.Tensor, backup: tf.Tensor) -> tf.Tensor:
  """Residual half of ATAC's Bellman term: Σ_j (Q_j(s, a) − B Q_j(s, a))².

  The gradient flows through both: B Q_j is r + γ Q_j(s', π(s')) of the online
  critic, each member's own.

  Args:
    q: Q at the data, `[M, B, n]`.
    backup: B Q, `[M, B, n]`.

  Returns:
    Mean over draws, sum over members: `[B]`.
  """
  errors = tf.math.squared_difference(q, backup)
  return tf.reduce_sum(tf.reduce_mean(errors, axis=2), axis=0)


@gin.configurable
class RelativePessimism(base.Regularizer):
  """ATAC's adversarial critic: lower on the policy than on the data."""

  name = 'relative_value'

  def __init__(self, weight: float = gin.REQUIRED, start_step: int = 0):
    """Creates it.

    Args:
      weight: 1/β, where β weighs the Bellman term in the paper; one factor for
        both is nothing to Adam.
      start_step: The term is 0 before this train step.
    """
    if weight < 0:
      raise ValueError(f'weight must not be negative, not {weight}.')
    self._weight, self._start_step = weight, start_step

  def pairs(self, context: base.Context) -> Optional[base.Pairs]:
    """One action of the policy at each state; it gets no gradient."""
    actions = ood_actions.from_policy(
        context.policy, context.observations, context.actions,
        context.action_spec, 1, context.draws)
    return base.Pairs(context.observations, actions[0])

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """weight · the relative value, `[B]`."""
    assert seen.q is not None  # `pairs` asked for it
    value = relative_value(seen.q.mean, seen.data.mean)
    started = tf.cast(context.step >= self._start_step, value.dtype)
    return self._weight * started * value, value


@gin.configurable
class BellmanResidual(base.Regularizer):
  """A Bellman error without a target network, for any ensemble."""

  name = 'bellman_residual'

  def __init__(self, weight: float = gin.REQUIRED):
    """Creates it.

    Args:
      weight: Of the residual; `EnsembleSacAgent.td_weight` is that of the error
        against the target network.
    """
    if weight < 0:
      raise ValueError(f'weight must not be negative, not {weight}.')
    self._weight = weight

  def pairs(self, context: base.Context) -> Optional[base.Pairs]:
    """One action of the policy at each next state; it gets no gradient."""
    actions = ood_actions.from_policy(
        context.policy, context.next_observations, context.actions,
        context.action_spec, 1, context.draws)
    return base.Pairs(context.next_observations, actions[0])

  def loss(self, context: base.Context,
           seen: base.Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """weight · the residual, `[B]`."""
    assert seen.q is not None and context.bootstrap is not None
    # B is the last axis of what is bootstrapped: [M, B, n] -> [n, M, B].
    following = context.bootstrap(tf.transpose(seen.q.samples, [2, 0, 1]))
    residual = bellman_residual(
        seen.data.samples, tf.transpose(following, [1, 2, 0]))
    return self._weight * residual, residual
