"""Adam with few operations a step."""
import tensorflow as tf

from drvf_tf.agents import rates
from drvf_tf.networks import noise

_BETAS = (0.9, 0.999)


class Adam(tf.keras.optimizers.legacy.Adam):
  """Keras' own with its default β, to the last bit.

  Keras prepares some fifteen numbers a step that the one operation which
  updates a variable has no use for; small networks feel that.
  """

  def __init__(self, learning_rate: rates.Rate = 1e-3, name: str = 'Adam'):
    """Creates the optimizer.

    Args:
      learning_rate: A number or a schedule.
      name: Name of the optimizer.
    """
    super().__init__(learning_rate, *_BETAS, name=name)

  def apply_gradients(self, grads_and_vars, name=None,
                      experimental_aggregate_gradients=True):
    """As Keras'; one replica has nothing to aggregate."""
    return super().apply_gradients(
        grads_and_vars, name,
        experimental_aggregate_gradients and noise.num_replicas() > 1)

  def _prepare_local(self, var_device, var_dtype, apply_state):
    powers = tf.unstack(tf.pow(tf.constant(_BETAS, var_dtype),
                               tf.cast(self._taken(), var_dtype)))
    apply_state[(var_device, var_dtype)] = dict(
        lr_t=self._decayed_lr(var_dtype),
        beta_1_t=tf.constant(_BETAS[0], var_dtype),
        beta_2_t=tf.constant(_BETAS[1], var_dtype),
        beta_1_power=powers[0], beta_2_power=powers[1],
        epsilon=tf.constant(self.epsilon, var_dtype))

  def _taken(self) -> tf.Tensor:
    """How many gradients have been taken, this one included."""
    return self.iterations + 1
