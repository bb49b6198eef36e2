"""Adam within bounds, of kernels or of a number, and Adam that starts anew."""
import gin
import tensorflow as tf

from drvf_tf.agents import rates


@gin.configurable
class ProjectedAdam(tf.keras.optimizers.legacy.Adam):
  """Adam on kernels whose Frobenius norm stays below a bound.

  Kernels are stacked, `[M, in, out]`: each member's is projected by itself,
  right after its update. Biases and scales are free.
  """

  def __init__(self, learning_rate: rates.Rate = 5e-4,
               max_norm: float = gin.REQUIRED, name: str = 'ProjectedAdam'):
    """Creates the optimizer.

    Args:
      learning_rate: Adam's.
      max_norm: The bound.
      name: Name of the optimizer.
    """
    if max_norm <= 0:
      raise ValueError(f'max_norm must be positive, not {max_norm}.')
    super().__init__(learning_rate, name=name)
    self._max_norm = max_norm

  def _resource_apply_dense(self, grad, var, apply_state=None):
    update = super()._resource_apply_dense(grad, var, apply_state)
    if 'kernel' not in var.name.partition(':')[0].split('/'):
      return update
    with tf.control_dependencies([update]):
      return var.assign(projected(var.read_value(), self._max_norm))


def projected(kernel: tf.Tensor, max_norm: float) -> tf.Tensor:
  """W · min(1, max_norm / |W|_F) of each kernel of `[M, in, out]`."""
  return tf.clip_by_norm(kernel, max_norm, axes=[-2, -1])


@gin.configurable
class BoundedAdam(tf.keras.optimizers.legacy.Adam):
  """Adam on variables that stay between two numbers: for a dual variable."""

  def __init__(self, learning_rate: rates.Rate = 1e-3,
               low: float = gin.REQUIRED, high: float = gin.REQUIRED,
               name: str = 'BoundedAdam'):
    """Creates the optimizer.

    Args:
      learning_rate: Adam's.
      low: The lower bound.
      high: The upper bound.
      name: Name of the optimizer.
    """
    if low >= high:
      raise ValueError(f'low must be below high, not {low} and {high}.')
    super().__init__(learning_rate, name=name)
    self._low, self._high = low, high

  def _resource_apply_dense(self, grad, var, apply_state=None):
    update = super()._resource_apply_dense(grad, var, apply_state)
    with tf.control_dependencies([update]):
      return var.assign(
          tf.clip_by_value(var.read_value(), self._low, self._high))


@gin.configurable
class RestartedAdam(tf.keras.optimizers.legacy.Adam):
  """Adam that forgets its moments once: for an objective that changes."""

  def __init__(self, learning_rate: rates.Rate = 5e-4,
               restart_step: int = gin.REQUIRED, name: str = 'RestartedAdam'):
    """Creates the optimizer.

    Args:
      learning_rate: Adam's; a schedule goes on counting.
      restart_step: The first gradient that is taken without a past.
      name: Name of the optimizer.
    """
    if restart_step < 0:
      raise ValueError(
          f'restart_step must not be negative, not {restart_step}.')
    super().__init__(learning_rate, name=name)
    self._restart_step = restart_step

  def _prepare_local(self, var_device, var_dtype, apply_state):
    super()._prepare_local(var_device, var_dtype, apply_state)
    state = apply_state[(var_device, var_dtype)]
    before = self.iterations < self._restart_step
    taken = tf.cast(self.iterations + 1 - tf.where(
        before, tf.zeros_like(self.iterations), self._restart_step), var_dtype)
    state.update(beta_1_power=tf.pow(state['beta_1_t'], taken),
                 beta_2_power=tf.pow(state['beta_2_t'], taken))

  def _resource_apply_dense(self, grad, var, apply_state=None):
    slots = [self.get_slot(var, name) for name in ('m', 'v')]

    def forget() -> tf.Operation:
      return tf.group(*(slot.assign(tf.zeros_like(slot)) for slot in slots))

    forgotten = tf.cond(
        tf.equal(self.iterations, self._restart_step), forget, tf.no_op)
    with tf.control_dependencies([forgotten]):
      return super()._resource_apply_dense(grad, var, apply_state)
