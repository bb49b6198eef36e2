"""Learning rates that change in the course of a run."""
import math
from typing import Any, Optional, Union

import gin
import tensorflow as tf

Rate = Union[float, tf.keras.optimizers.schedules.LearningRateSchedule]


@gin.configurable
class SettlingRate(tf.keras.optimizers.schedules.LearningRateSchedule):
  """One rate for the start, then another that falls to 0 along a cosine.

  A policy that improves on a critic which knows its data has few steps in
  which to do so: slowly, so that the critic keeps up with it, and not for
  ever.
  """

  def __init__(self, first: float = gin.REQUIRED, then: float = gin.REQUIRED,
               boundary: int = gin.REQUIRED,
               decay_steps: Optional[int] = None):
    """Creates it.

    Args:
      first: The rate in the first `boundary` train steps.
      then: The rate right after them.
      boundary: Length of the start.
      decay_steps: Train steps from there to a rate of 0; None keeps `then`.
    """
    self._first, self._then = first, then
    self._boundary, self._decay_steps = boundary, decay_steps

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    """The rate of a train step, counted from 0."""
    after = tf.cast(step, tf.float32) - float(self._boundary)
    then = tf.constant(self._then)
    if self._decay_steps is not None:
      share = tf.clip_by_value(after / self._decay_steps, 0.0, 1.0)
      then *= 0.5 * (1.0 + tf.cos(math.pi * share))
    return tf.where(after < 0, self._first, then)

  def get_config(self) -> dict[str, Any]:
    """The arguments, as Keras wants them."""
    return {'first': self._first, 'then': self._then,
            'boundary': self._boundary, 'decay_steps': self._decay_steps}
