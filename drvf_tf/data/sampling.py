"""Batches gathered inside the graph."""
import pathlib
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts

from drvf_tf.data import offline_dataset


class BatchSource(tf.Module):
  """What gives each train step its batch: `source(step)`, in the graph.

  Attributes:
    interval: Train steps between changes of `refresh`; None: there are none.
  """
  interval: Optional[int] = None

  @property
  def dataset(self) -> offline_dataset.OfflineDataset:
    """The data that batches come from."""
    raise NotImplementedError

  def __call__(self, step: tf.Tensor) -> trajectory.Transition:
    """The batch of `step`."""
    raise NotImplementedError

  def begin(self, agent: Any, folder: pathlib.Path, chief: bool) -> None:
    """Once in a process, before a run starts or resumes.

    Args:
      agent: That is trained.
      folder: The run folder.
      chief: Whether this is the process that writes to it.
    """

  def refresh(self, step: int) -> None:
    """Before each call of the graph, whose first step is `step`."""

  def metrics(self) -> dict[str, float]:
    """What is added to the metrics of a call, after it."""
    return {}

  def state(self) -> dict[str, Any]:
    """What a checkpoint must hold for `refresh` to go on, by name."""
    return {}

  def facts(self) -> dict[str, Any]:
    """What run.json says of it, after `begin`."""
    return {}


class TransitionSampler(BatchSource):
  """Uniform batches of transitions, a pure function of (seed, step).

  There is no shuffle buffer and no iterator: any step's batch can be had at
  any time, so a resumed run sees what an uninterrupted one would have seen.
  """

  def __init__(self, dataset: offline_dataset.OfflineDataset,
               batch_size: int, seed: int):
    """Copies the dataset into one tensor; see `dataset`.

    Args:
      dataset: the transitions.
      batch_size: rows of a batch, drawn with replacement.
      seed: of the draws.
    """
    super().__init__(name='transition_sampler')
    self._batch_size = batch_size
    self._seed = seed
    self._size = dataset.size
    columns = [dataset.observations, dataset.actions, dataset.rewards[:, None],
               1. - dataset.terminals[:, None].astype(np.float32),
               dataset.next_observations]
    if dataset.next_actions is not None:
      columns.append(dataset.next_actions)
    self._widths = [column.shape[1] for column in columns]
    # One row holds a whole transition: a batch is one gather.
    self._rows = tf.constant(
        np.concatenate(columns, axis=1, dtype=np.float32))
    self._dataset = self._views(dataset)

  def _views(self, dataset: offline_dataset.OfflineDataset
             ) -> offline_dataset.OfflineDataset:
    ends = np.cumsum(self._widths)
    observations, actions, rewards, _, next_observations, *asked = np.split(
        np.asarray(memoryview(self._rows)), ends[:-1], axis=1)  # no copy
    return dataset.replace(
        observations=observations, actions=actions, rewards=rewards[:, 0],
        next_observations=next_observations,
        next_actions=asked[0] if asked else None)

  @property
  def dataset(self) -> offline_dataset.OfflineDataset:
    """The same data as views of the tensor.

    Who goes on with this one, and lets go of the one given, holds the rows
    once.
    """
    return self._dataset

  @property
  def batch_size(self) -> int:
    """Rows of a batch."""
    return self._batch_size

  def indices(self, step: tf.Tensor) -> tf.Tensor:
    """The rows of `step`'s batch, [batch]."""
    seed = tf.stack([tf.constant(self._seed, tf.int64),
                     tf.cast(step, tf.int64)])
    return tf.random.stateless_uniform(
        [self._batch_size], seed, maxval=self._size, dtype=tf.int64)

  @property
  def widths(self) -> list[int]:
    """Of s, a, r, the discount and s' in a row."""
    return self._widths

  def rows(self, indices: tf.Tensor) -> tf.Tensor:
    """(s, a, r, discount, s') of given rows, `[batch, sum of widths]`."""
    return tf.gather(self._rows, indices)

  def __call__(self, step: tf.Tensor) -> trajectory.Transition:
    """The batch of `step`."""
    return from_rows(self.rows(self.indices(step)), self._widths)


def from_rows(rows: tf.Tensor, widths: Sequence[int]) -> trajectory.Transition:
  """TF-Agents' form of rows (s, a, r, discount, s', what else was asked)."""
  observation, action, reward, discount, next_observation, *asked = tf.split(
      rows, widths, axis=1)
  return transition(observation, action, reward[:, 0], discount[:, 0],
                    next_observation, *asked)


def transition(observation: tf.Tensor, action: tf.Tensor, reward: tf.Tensor,
               discount: tf.Tensor, next_observation: tf.Tensor,
               next_action: Optional[tf.Tensor] = None,
               ) -> trajectory.Transition:
  """TF-Agents' form of (s, a, r, discount, s'), and of a' where given."""
  info = () if next_action is None else {'next_action': next_action}
  mid = tf.fill(tf.shape(reward), ts.StepType.MID)
  last = tf.fill(tf.shape(reward), ts.StepType.LAST)
  return trajectory.Transition(
      time_step=ts.TimeStep(
          mid, tf.zeros_like(reward), tf.ones_like(discount), observation),
      action_step=policy_step.PolicyStep(action, info=info),
      next_time_step=ts.TimeStep(
          tf.where(discount > 0, mid, last), reward, discount,
          next_observation))
