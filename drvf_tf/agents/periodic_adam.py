"""Adam that takes every n-th gradient: TD3's delayed updates of the actor."""
import tensorflow as tf

from drvf_tf.agents import adam


class PeriodicAdam(adam.Adam):
  """Takes the first gradient and every `period`-th after it.

  What it passes over leaves no trace, neither in the variables nor in the
  moments. The decision is made where a variable is updated, for under a
  strategy `apply_gradients` itself must not stand in a `tf.cond`.
  """

  def __init__(self, learning_rate: float, period: int,
               name: str = 'PeriodicAdam'):
    """Creates the optimizer.

    Args:
      learning_rate: Adam's.
      period: Gradients of which one is taken.
      name: Name of the optimizer.
    """
    if period < 1:
      raise ValueError(f'period must be at least 1, not {period}.')
    super().__init__(learning_rate, name=name)
    self._period = period

  def _taken(self) -> tf.Tensor:
    return self.iterations // self._period + 1

  def _resource_apply_dense(self, grad, var, apply_state=None):
    apply = super()._resource_apply_dense
    return tf.cond(tf.equal(self.iterations % self._period, 0),
                   lambda: apply(grad, var, apply_state), tf.no_op)
