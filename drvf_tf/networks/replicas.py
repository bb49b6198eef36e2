"""What the replicas of a distribution strategy know of each other."""
import tensorflow as tf


def global_mean(values: tf.Tensor) -> tf.Tensor:
  """Mean over the rows of all replicas."""
  mean = tf.reduce_mean(values)
  context = tf.distribute.get_replica_context()
  if context is None or context.num_replicas_in_sync == 1:
    return mean
  return context.all_reduce(tf.distribute.ReduceOp.MEAN, mean)
