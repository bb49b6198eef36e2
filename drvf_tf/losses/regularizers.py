"""Regularizers of the critic: what Eq. (16) adds to the Bellman error.

A regularizer may ask for Q at state-action pairs of its own (`pairs`); the
agent evaluates them in the same pass as the data and hands the result to
`loss`. A loss of shape `[R]` is averaged over the global batch, a scalar is
added once.
"""
from typing import Any, Callable, NamedTuple, Optional

import gin
import tensorflow as tf
from tf_agents.typing import types

from drvf_tf.losses import ood_actions, terms
from drvf_tf.networks import noise, q_values


class Pairs(NamedTuple):
  """State-action pairs to evaluate.

  Attributes:
    observations: `[R, obs]`.
    actions: `[R, act]`.
    log_pi: Log-probabilities of the actions where they came from, `[A, B]`;
      where the regularizer wants to see them again.
  """
  observations: tf.Tensor
  actions: tf.Tensor
  log_pi: Optional[tf.Tensor] = None


class Context(NamedTuple):
  """What a regularizer may look at.

  Attributes:
    critic: The online critic network.
    policy: Observations to the actor's action distribution.
    observations: `[B, obs]` of the data.
    actions: `[B, act]` of the data.
    next_observations: `[B, obs]` of the data.
    action_spec: Bounds of the actions.
    step: The train step.
    num_batches: |D| / B, batches in an epoch.
    draws: Where noise comes from.
    bootstrap: Next values `[..., B]` to r + γ · (0 at a terminal, else them).
    data_weights: `[B]`: a mean over the batch with these weights is one over
      its rows of the data; None where all rows are.
  """
  critic: Any
  policy: ood_actions.Policy
  observations: tf.Tensor
  actions: tf.Tensor
  next_observations: tf.Tensor
  action_spec: types.BoundedTensorSpec
  step: tf.Tensor
  num_batches: float
  draws: noise.Draws
  bootstrap: Optional[Callable[[tf.Tensor], tf.Tensor]] = None
  data_weights: Optional[tf.Tensor] = None


class Seen(NamedTuple):
  """What the critic said.

  Attributes:
    data: Q at the data.
    pairs: What the regularizer asked for, if it did.
    q: Q at those pairs.
  """
  data: q_values.QValues
  pairs: Optional[Pairs] = None
  q: Optional[q_values.QValues] = None


class Regularizer:
  """Base: no pairs of its own."""

  name = 'regularizer'

  def pairs(self, context: Context) -> Optional[Pairs]:
    """What to evaluate besides the data, or None."""
    del context
    return None

  def loss(self, context: Context,
           seen: Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """(weighted loss, bare value for the metrics)."""
    raise NotImplementedError


def spaced(rows: Optional[int], *batch: tf.Tensor) -> tuple[tf.Tensor, ...]:
  """That many evenly spaced rows, alike on one replica and on many.

  Args:
    rows: How many of the global batch; None for all.
    *batch: `[B, ...]` each.

  Returns:
    The rows of each.
  """
  if rows is None:
    return batch
  replicas = noise.num_replicas()
  stride = noise.num_rows(batch[0]) * replicas // rows
  larger = max if isinstance(stride, int) else tf.maximum
  stride = larger(stride, 1)
  where = slice(None, stride * -(-rows // replicas), stride)
  return tuple(values[where] for values in batch)


@gin.configurable
class KlDivergence(Regularizer):
  """KL of Eqs. (10) and (16), summed over members."""

  name = 'kl'

  def __init__(self,
               weight: float = 1.0,
               scale: terms.KlScale = terms.kl_per_batch):
    """Creates it.

    Args:
      weight: η_q.
      scale: (weights of a head, num_batches) to the KL's scale.
    """
    if weight < 0:
      raise ValueError(f'weight of the KL must not be negative, not {weight}.')
    self._weight, self._scale = weight, scale

  def loss(self, context: Context,
           seen: Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """η_q · scale · Σ_j KL_j."""
    del seen
    num_weights = context.critic.head.posterior_std().shape[-1]
    scale = self._scale(num_weights, context.num_batches)
    kl = scale * tf.reduce_sum(context.critic.kl_divergence())
    return self._weight * kl, kl


@gin.configurable
class Repulsion(Regularizer):
  """−η_ood · R of Eqs. (15) and (16) at OOD actions."""

  name = 'repulsion'

  def __init__(self,
               weight: float = 1.0,
               num_actions: int = 10,
               spread: terms.Spread = terms.per_member_std,
               source: ood_actions.Source = ood_actions.from_policy,
               batch_size: Optional[int] = None):
    """Creates it.

    Args:
      weight: η_ood.
      num_actions: K, OOD actions per state.
      spread: `QValues` to the standard deviation `[R]`.
      source: Where the actions come from.
      batch_size: How many states of the batch are used; None for all.
    """
    if weight < 0:
      raise ValueError(f'eta_ood must not be negative, not {weight}.')
    if num_actions < 1:
      raise ValueError(
          f'num_ood_actions must be at least 1, not {num_actions}.')
    if batch_size is not None and batch_size < 1:
      raise ValueError(f'ood_batch_size must be at least 1, not {batch_size}.')
    self._weight, self._num_actions = weight, num_actions
    self._spread, self._source = spread, source
    self._batch_size = batch_size

  def pairs(self, context: Context) -> Optional[Pairs]:
    """K actions at each state, rows ordered action by action: `[K·B, ·]`."""
    observations, actions = spaced(
        self._batch_size, context.observations, context.actions)
    actions = self._source(
        context.policy, observations, actions, context.action_spec,
        self._num_actions, context.draws)  # [K, B, act]
    return Pairs(tf.tile(observations, [self._num_actions, 1]),
                 tf.reshape(actions, [-1, actions.shape[-1]]))

  def loss(self, context: Context,
           seen: Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """−η_ood · Std of the Q samples."""
    del context
    assert seen.q is not None  # `pairs` asked for it
    spread = self._spread(seen.q)  # [K·B]
    return -self._weight * spread, spread


@gin.configurable
class WeightDecay(Regularizer):
  """Coupled L2 of the hidden kernels; its λ is the critic network's `l2`."""

  name = 'decay'

  def loss(self, context: Context,
           seen: Seen) -> tuple[tf.Tensor, tf.Tensor]:
    """λ/2·Σ kernel²."""
    del seen
    decay = context.critic.decay_loss()
    return decay, decay
