"""Constraints on the actor: what may be made of Eq. (17). Not in the paper."""
from typing import Callable, Optional

import gin
import tensorflow as tf
import tensorflow_probability as tfp

from drvf_tf.networks import noise, replicas

# (Eq. (17) `[B]`, the policy, the data's actions, the train step) to `[B]`
Constraint = Callable[
    [tf.Tensor, tfp.distributions.Distribution, tf.Tensor, tf.Tensor],
    tf.Tensor]


@gin.configurable
def unconstrained(objective: tf.Tensor,
                  distribution: tfp.distributions.Distribution,
                  actions: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
  """Eq. (17) as it stands."""
  del distribution, actions, step
  return objective


@gin.configurable
def behaviour_cloning(objective: tf.Tensor,
                      distribution: tfp.distributions.Distribution,
                      actions: tf.Tensor,
                      step: tf.Tensor,
                      weight: float = 1.0,
                      warm_up_steps: int = 0,
                      value_scale: Optional[float] = None) -> tf.Tensor:
  """Adds weight · w(s) · |π(s) − a|², the distance to the dataset's action.

  In the first `warm_up_steps` the actor clones and does nothing else, while
  the critic learns the value of the cloned policy.

  w(s) is 1, or exp(V(s) / value_scale) over its mean in the batch, V being
  what (17) maximises: where the policy does well it keeps to the data, where
  the data themselves are stuck it is free to leave them.

  Args:
    objective: Eq. (17), `[B]`.
    distribution: The policy at the states of the data.
    actions: Of the data, `[B, act]`.
    step: The train step.
    weight: Of the distance, after the warm-up.
    warm_up_steps: How long the actor clones alone.
    value_scale: In units of Q; None: w(s) = 1.

  Returns:
    `[B]`.
  """
  distance = tf.reduce_sum(tf.square(distribution.mode() - actions), axis=-1)
  term = weight * distance
  if value_scale is not None:
    values = -tf.stop_gradient(objective) / value_scale
    weights = tf.exp(values - replicas.global_mean(values))
    term *= weights / replicas.global_mean(weights)
  return tf.where(step < warm_up_steps, distance, objective + term)


@gin.configurable
def likelihood(objective: tf.Tensor,
               distribution: tfp.distributions.Distribution,
               actions: tf.Tensor,
               step: tf.Tensor,
               weight: float = gin.REQUIRED) -> tf.Tensor:
  """Adds −weight · log π(a|s) of the dataset's action, `[B]`.

  In the data's mean it is the KL from the behaviour policy to π: without
  entropy the optimum is π ∝ behaviour · exp(Q / weight), so that the weight
  says, in units of Q, what a nat of unlikelihood must earn.
  """
  del step
  return objective - weight * noise.log_likelihood(distribution, actions)


@gin.configurable
def cloned_start(objective: tf.Tensor,
                 distribution: tfp.distributions.Distribution,
                 actions: tf.Tensor,
                 step: tf.Tensor,
                 steps: int = gin.REQUIRED,
                 then: Constraint = unconstrained) -> tf.Tensor:
  """−log π(a|s) in the first steps, then Eq. (17) or what `then` makes of it.

  While the actor clones by likelihood, its std included, the critic learns the
  value of the cloned policy; the first improvement is on a critic that knows
  something. What ends the start is the step alone.

  Args:
    objective: Eq. (17), `[B]`.
    distribution: The policy at the states of the data.
    actions: Of the data, `[B, act]`.
    step: The train step.
    steps: Length of the start, in train steps.
    then: The constraint afterwards.

  Returns:
    `[B]`.
  """
  return tf.where(step < steps, -noise.log_likelihood(distribution, actions),
                  then(objective, distribution, actions, step))
