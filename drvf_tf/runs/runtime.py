"""What a run runs on: threads, precision, and the distribution strategy."""
import os
from typing import Optional

import gin
import tensorflow as tf

_PRECISIONS = ('float32', 'mixed_bfloat16')
# Sums in any order, so that they can be vectorised; NaN, infinity, division
# and functions stay what they are.
_FAST_MATH = ('--xla_cpu_enable_fast_math=true', *(
    f'--xla_cpu_fast_math_honor_{what}=true'
    for what in ('nans', 'infs', 'division', 'functions')))


@gin.configurable
def configure_runtime(intra_op_threads: Optional[int] = None,
                      inter_op_threads: Optional[int] = None,
                      precision: str = 'float32',
                      xla_fast_math: bool = False) -> None:
  """Sets threads and precision; before anything else of TensorFlow.

  Args:
    intra_op_threads: Threads inside an operation; all cores by default. With
      networks of width 128, 1 is faster than more.
    inter_op_threads: Operations side by side; all cores by default. Two runs
      on one machine are faster with 1 of both.
    precision: 'float32', or 'mixed_bfloat16' for GPUs (hidden layers in
      bfloat16, variables, heads and losses in float32).
    xla_fast_math: Lets XLA add in any order on a CPU, which
      `Trainer.jit_compile` is slow without. XLA hears it once in a process,
      before it first compiles.
  """
  if precision not in _PRECISIONS:
    raise ValueError(
        f'configure_runtime.precision must be one of {_PRECISIONS}, not '
        f'{precision!r}.')
  if intra_op_threads is not None:
    tf.config.threading.set_intra_op_parallelism_threads(intra_op_threads)
  if inter_op_threads is not None:
    tf.config.threading.set_inter_op_parallelism_threads(inter_op_threads)
  tf.keras.mixed_precision.set_global_policy(precision)
  if xla_fast_math:
    given = os.environ.get('XLA_FLAGS', '').split()
    os.environ['XLA_FLAGS'] = ' '.join(dict.fromkeys([*given, *_FAST_MATH]))


@gin.configurable
def default_strategy() -> tf.distribute.Strategy:
  """One device."""
  return tf.distribute.get_strategy()


@gin.configurable
def mirrored_strategy() -> tf.distribute.Strategy:
  """Every GPU of this machine, or every logical CPU where there is none."""
  kind = 'GPU' if tf.config.list_logical_devices('GPU') else 'CPU'
  devices = [device.name for device in tf.config.list_logical_devices(kind)]
  return tf.distribute.MirroredStrategy(devices)


@gin.configurable
def multi_worker_strategy() -> tf.distribute.Strategy:
  """Every process of the cluster that the variable TF_CONFIG names."""
  return tf.distribute.MultiWorkerMirroredStrategy()


def is_chief(strategy: tf.distribute.Strategy) -> bool:
  """Whether this process is the one that writes and evaluates."""
  resolver = strategy.cluster_resolver
  return resolver is None or not resolver.task_id


class Vote:
  """Tells every process of a cluster whether any of them wants something."""

  def __init__(self, strategy: tf.distribute.Strategy):
    """Creates it.

    Args:
      strategy: Of the cluster; one process has nobody to ask.
    """
    self._alone = not isinstance(
        strategy, tf.distribute.MultiWorkerMirroredStrategy)
    self._strategy = strategy
    self._sum = tf.function(self._sum_over_replicas)

  def __call__(self, flag: bool) -> bool:
    """Whether `flag` is true in any process."""
    if self._alone:
      return flag
    return bool(self._sum(tf.constant(float(flag))) > 0)

  def _sum_over_replicas(self, flag: tf.Tensor) -> tf.Tensor:
    votes = self._strategy.run(tf.identity, (flag,))
    return self._strategy.reduce(
        tf.distribute.ReduceOp.SUM, votes, axis=None)
