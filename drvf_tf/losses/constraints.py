"""Constraints on the actor: what may be added to Eq. (17). Not in the paper."""
import gin
import tensorflow as tf
import tensorflow_probability as tfp


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
                      warm_up_steps: int = 0) -> tf.Tensor:
  """Adds weight · |π(s) − a|², the distance to the dataset's action.

  In the first `warm_up_steps` the actor clones and does nothing else, while
  the critic learns the value of the cloned policy.

  Args:
    objective: Eq. (17), `[B]`.
    distribution: The policy at the states of the data.
    actions: Of the data, `[B, act]`.
    step: The train step.
    weight: Of the distance, after the warm-up.
    warm_up_steps: How long the actor clones alone.

  Returns:
    `[B]`.
  """
  distance = tf.reduce_sum(tf.square(distribution.mode() - actions), axis=-1)
  return tf.where(step < warm_up_steps, distance,
                  objective + weight * distance)
