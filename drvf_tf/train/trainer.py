"""Many train steps in one call of the graph."""
from typing import Any, Callable

import gin
import tensorflow as tf

from drvf_tf import errors


@gin.configurable
class Trainer:
  """Trains an agent for a fixed number of steps at each call.

  A batch is a function of the step, and every replica takes its own rows of
  the global batch: several replicas see what one would have seen.
  """

  def __init__(self,
               agent: Any,
               sampler: Callable[[tf.Tensor], Any],
               step: tf.Variable,
               steps_per_call: int,
               jit_compile: bool = False):
    """Traces the graph, which creates the optimizers' variables.

    Args:
      agent: A TF-Agents agent, built under `tf.distribute.get_strategy()`.
      sampler: A step to its global batch.
      step: The agent's train step counter.
      steps_per_call: Train steps in one call.
      jit_compile: Compile the steps that give no metrics with XLA, that is
        all but the last of a call.
    """
    self._agent, self._sampler, self._step = agent, sampler, step
    self._num_steps = steps_per_call
    self._strategy = tf.distribute.get_strategy()
    self._one_step = tf.function(self._distributed_step, autograph=False)
    self._one_step.get_concrete_function()
    self._quiet_step = self._one_step
    if jit_compile:
      # XLA computes all that a function returns, and checks no numerics: the
      # step that does both stays outside.
      self._quiet_step = tf.function(
          self._without_metrics, autograph=False, jit_compile=True)
    self._many_steps = tf.function(self._loop)

  def __call__(self) -> dict[str, float]:
    """Takes the steps and gives the metrics of the last of them."""
    try:
      metrics = self._many_steps()
    except tf.errors.InvalidArgumentError as error:
      if 'nan' not in error.message.lower():
        raise
      raise errors.DivergedError('a loss became NaN or infinite') from error
    return {name: float(value) for name, value in metrics.items()}

  def _loop(self) -> dict[str, tf.Tensor]:
    # What nobody reads is not computed: the graph is traced once, and pruned
    # for the steps whose metrics are not used.
    for _ in tf.range(self._num_steps - 1):
      self._quiet_step()
    return self._one_step()

  def _without_metrics(self) -> None:
    self._strategy.run(self._replica_step)

  def _distributed_step(self) -> dict[str, tf.Tensor]:
    parts = self._strategy.run(self._replica_step)
    return {name: self._strategy.reduce(
        tf.distribute.ReduceOp.SUM, part, axis=None)
            for name, part in parts.items()}

  def _replica_step(self) -> dict[str, tf.Tensor]:
    info = self._agent.train(_own_rows(self._sampler(self._step)))
    return {'loss': info.loss, **info.extra}


def _own_rows(batch: Any) -> Any:
  """This replica's rows of a global batch."""
  context = tf.distribute.get_replica_context()
  replicas = context.num_replicas_in_sync
  if replicas == 1:
    return batch

  def rows(values: tf.Tensor) -> tf.Tensor:
    count = values.shape[0] // replicas
    first = context.replica_id_in_sync_group * count
    own = values[first:first + count]
    own.set_shape([count, *values.shape[1:]])
    return own

  return tf.nest.map_structure(rows, batch)
