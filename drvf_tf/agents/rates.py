"""Learning rates that change in the course of a run."""
import gin
import tensorflow as tf


@gin.configurable
def two_rates(first: float = gin.REQUIRED, then: float = gin.REQUIRED,
              boundary: int = gin.REQUIRED
              ) -> tf.keras.optimizers.schedules.LearningRateSchedule:
  """One rate up to a train step, another from there on."""
  return tf.keras.optimizers.schedules.PiecewiseConstantDecay(
      [boundary - 1], [first, then])
