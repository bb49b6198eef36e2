"""Objectives of the model-free baselines, each before averaging."""
import tensorflow as tf


def cloning_error(actions: tf.Tensor, data_actions: tf.Tensor) -> tf.Tensor:
  """BC: the mean over action dimensions of (π(s) − a)², `[B]`."""
  return tf.reduce_mean(tf.math.squared_difference(actions, data_actions),
                        axis=-1)


def twin_bellman_error(q_1: tf.Tensor, q_2: tf.Tensor,
                       targets: tf.Tensor) -> tf.Tensor:
  """(Q_1 − y)² + (Q_2 − y)², `[B]`."""
  return (tf.math.squared_difference(q_1, targets)
          + tf.math.squared_difference(q_2, targets))


def smoothed_actions(actions: tf.Tensor, noise: tf.Tensor, low: tf.Tensor,
                     high: tf.Tensor, scale: float, clip: float) -> tf.Tensor:
  """TD3, Eq. (14) of Fujimoto et al. (2018): π'(s') + clip(ε, −c, c).

  Args:
    actions: π'(s'), `[B, act]`.
    noise: Standard normal, `[B, act]`.
    low: Lower bounds of actions.
    high: Upper bounds of actions.
    scale: Standard deviation of ε, in half widths of the bounds.
    clip: c, in half widths of the bounds.

  Returns:
    `[B, act]`, within the bounds.
  """
  radius = (high - low) / 2
  epsilon = tf.clip_by_value(scale * noise, -clip, clip)
  return tf.clip_by_value(actions + radius * epsilon, low, high)


def td3_bc_objective(q: tf.Tensor, mean_abs_q: tf.Tensor,
                     actions: tf.Tensor, data_actions: tf.Tensor,
                     alpha: float) -> tf.Tensor:
  """TD3+BC, Eq. (5): −λ Q(s, π(s)) + (π(s) − a)², with λ = α / mean |Q|.

  Args:
    q: Q(s, π(s)), `[B]`.
    mean_abs_q: Mean of |Q(s, π(s))| over the global batch, a scalar that no
      gradient flows through.
    actions: π(s), `[B, act]`.
    data_actions: a, `[B, act]`.
    alpha: α.

  Returns:
    `[B]`.
  """
  weight = alpha / tf.stop_gradient(mean_abs_q)
  return cloning_error(actions, data_actions) - weight * q


def squared_distance(actions: tf.Tensor,
                     data_actions: tf.Tensor) -> tf.Tensor:
  """ReBRAC's penalty: |π(s) − a|², summed over action dimensions, `[B]`."""
  return tf.reduce_sum(tf.math.squared_difference(actions, data_actions),
                       axis=-1)


def rebrac_objective(q: tf.Tensor, mean_abs_q: tf.Tensor,
                     actions: tf.Tensor, data_actions: tf.Tensor,
                     beta_1: float) -> tf.Tensor:
  """ReBRAC's actor: β₁ |π(s) − a|² − λ Q(s, π(s)), with λ = 1 / mean |Q|.

  Args:
    q: The lower Q(s, π(s)) of the two critics, `[B]`.
    mean_abs_q: Mean of |Q(s, π(s))| over the global batch, a scalar that no
      gradient flows through.
    actions: π(s), `[B, act]`.
    data_actions: a, `[B, act]`.
    beta_1: β₁.

  Returns:
    `[B]`.
  """
  return (beta_1 * squared_distance(actions, data_actions)
          - q / tf.stop_gradient(mean_abs_q))


def expectile_error(differences: tf.Tensor, expectile: float) -> tf.Tensor:
  """IQL, Eq. (5): |τ − 1(u < 0)| u² of u = Q(s, a) − V(s), `[B]`."""
  below = tf.cast(differences < 0, differences.dtype)
  return tf.abs(expectile - below) * tf.square(differences)


def advantage_weights(advantages: tf.Tensor, temperature: float,
                      maximum: float) -> tf.Tensor:
  """IQL, Eq. (7): min(exp(β (Q(s, a) − V(s))), maximum), a constant, `[B]`."""
  return tf.stop_gradient(
      tf.minimum(tf.exp(temperature * advantages), maximum))
