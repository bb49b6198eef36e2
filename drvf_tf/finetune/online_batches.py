"""Batches of the data and of what is collected: one more source."""
import pathlib
import sys
from typing import Any, Callable, Optional

import gin
import numpy as np
import tensorflow as tf
from tf_agents.trajectories import trajectory

from drvf_tf import errors
from drvf_tf.data import offline_dataset, sampling
from drvf_tf.finetune import collected_rows, collecting, exploration
from drvf_tf.networks import noise
from drvf_tf.policies import support, uncertainty_policy
from drvf_tf.runs import run_reader

_ROWS = 0x4f4e4c30  # the stream of draws that choose rows
_NOT_MEASURED = -1.0  # of the gate's threshold; a checkpoint is finite


@gin.configurable
def linear_share(step: tf.Tensor, first: float = 0.5, last: float = 0.5,
                 steps: int = 1) -> tf.Tensor:
  """From `first` to `last` in the first `steps` online steps, then `last`."""
  done = tf.clip_by_value(tf.cast(step, tf.float32) / steps, 0.0, 1.0)
  return first + (last - first) * done


@gin.configurable
class OnlineBatches(sampling.BatchSource):
  """Rows of the data, and rows that the agent collects as it learns.

  Before each `interval` train steps the agent acts in the task, with the
  policy of that step. What is drawn and done is a function of the seed, the
  step and the agent: a run that resumes reads the rows that it had, plays the
  actions of the unfinished episode again, and goes on as if it had not
  stopped.
  """

  def __init__(self,
               dataset: offline_dataset.OfflineDataset,
               batch_size: int,
               seed: int,
               environment: Callable[[], Any] = gin.REQUIRED,
               policy: exploration.Choice = exploration.posterior,
               fallback: Optional[exploration.Choice] = None,
               offline_share: Callable[[tf.Tensor], tf.Tensor] = linear_share,
               first_step: int = 0,
               interval: int = 50,
               collect_steps: int = 50,
               gate_quantile: float = 0.99):
    """Creates the source; `begin` makes the task.

    Args:
      dataset: The transitions that the agent was trained on.
      batch_size: Rows of a batch.
      seed: Of every draw.
      environment: Gives the task, which has `environment(seed)`.
      policy: What collects; see `exploration`.
      fallback: What acts where the data do not support that, if anything.
      offline_share: Online steps to the share of a batch that is the data's.
      first_step: The train step that fine-tuning starts at.
      interval: Train steps between collections.
      collect_steps: Steps in the task at each of them.
      gate_quantile: Of q_std on the data when fine-tuning starts: above it
        an action counts as not supported.
    """
    super().__init__(name='online_batches')
    if min(interval, collect_steps) < 1:
      raise ValueError('interval and collect_steps must be at least 1, not '
                       f'{interval} and {collect_steps}.')
    if dataset.next_actions is not None:
      raise errors.UserError(
          'The method asks for the action that follows each row, which is not '
          'known yet of the last row collected: fine-tune a run of another '
          'method.')
    self._task = environment()
    if not hasattr(self._task, 'environment'):
      raise errors.UserError(
          f'{self._task.name} is no task that can be acted in step by step: '
          f'give {type(self._task).__name__} a method environment(seed), as '
          'D4rlTask has, or name a run of a task that has one.')
    self.interval = interval
    self._batch_size, self._seed = batch_size, seed
    self._choice, self._fallback = policy, fallback
    self._share = offline_share
    self._first_step, self._collect_steps = first_step, collect_steps
    self._gate_quantile = gate_quantile
    self._offline = sampling.TransitionSampler(dataset, batch_size, seed)
    self._buffer = _Buffer(sum(self._offline.widths))
    self._reached = _Reached()
    self._layout: Optional[collected_rows.Layout] = None
    self._policy: Optional[exploration.ExplorationPolicy] = None
    self._collector: Optional[collecting.Collector] = None
    self._file: Optional[collected_rows.CollectedRows] = None
    self._last: Optional[np.ndarray] = None  # rows of the last collection

  @property
  def dataset(self) -> offline_dataset.OfflineDataset:
    """The offline data, as views of one tensor."""
    return self._offline.dataset

  def begin(self, agent: Any, folder: pathlib.Path, chief: bool) -> None:
    """Makes the task and the policy; see `BatchSource.begin`."""
    if not chief:
      raise errors.UserError(
          'Fine-tuning collects in one process: leave out '
          'train_eval.strategy=@multi_worker_strategy.')
    if not hasattr(agent, 'gamma'):
      raise errors.UserError(
          f'{type(agent).__name__} only clones: it has no value by which what '
          'it collects could be better or worse, so fine-tune a run of another '
          'method.')
    self._layout = collected_rows.Layout(
        self.dataset.observation_size, self.dataset.action_low.size,
        uncertainty_policy.knows_uncertainty(agent))
    self._policy = exploration.ExplorationPolicy(
        agent, self._choice, self.dataset, self._seed, self._fallback)
    self._collector = collecting.Collector(
        self._task.environment(self._seed), self._policy, self._collect_steps,
        self._layout.width)
    self._file = collected_rows.CollectedRows(
        run_reader.RunReader(folder).collected_file, self._layout.width)

  def refresh(self, step: int) -> None:
    """Collects where that is due, after taking up what was collected."""
    if self._last is None:
      self._take_up()
    if (step - self._first_step) % self.interval:
      return
    assert self._collector is not None and self._file is not None
    rows = self._collector.run()
    self._file.add(rows)
    self._buffer.add(self._as_trained_on(rows))
    self._reached.count.assign_add(len(rows))
    self._reached.checksum.assign(self._file.checksum)
    self._last = rows

  def _take_up(self) -> None:
    """The rows of the checkpoint, and the task as it was."""
    assert self._collector is not None and self._file is not None
    assert self._layout is not None
    self._set_threshold()
    rows = self._file.begin(
        int(self._reached.count), int(self._reached.checksum))
    self._buffer.add(self._as_trained_on(rows))
    self._last = rows[-self._collect_steps:]
    columns = self._layout.split(rows)
    ends = np.flatnonzero(columns['episode_ends'][:-1])
    episodes = len(ends) + (len(rows) > 0)
    first = ends[-1] + 1 if len(ends) else 0
    observation = self._collector.start(episodes, columns['actions'][first:])
    if len(rows) and not np.array_equal(
        observation, columns['next_observations'][-1]):
      print('The last episode, played again, ends elsewhere: this machine '
            'computes the task differently, and the run goes on from where it '
            'is.', file=sys.stderr)

  def _set_threshold(self) -> None:
    """The gate's, as it was when fine-tuning started."""
    assert self._policy is not None
    if not isinstance(self._policy.inner,
                      uncertainty_policy.UncertaintyPolicy):
      return
    if float(self._reached.threshold) == _NOT_MEASURED:
      self._reached.threshold.assign(support.measure(
          self._policy.inner, self.dataset, 'the offline data',
          self._gate_quantile).threshold)
    self._policy.threshold.assign(self._reached.threshold)

  def _as_trained_on(self, rows: np.ndarray) -> np.ndarray:
    """Rows (s, a, r, discount, s') in the terms of the offline data."""
    assert self._layout is not None
    columns, data = self._layout.split(rows), self.dataset
    states = [columns['observations'], columns['next_observations']]
    if data.observation_mean is not None:
      states = [(values - data.observation_mean) / data.observation_std
                for values in states]
    rewards = np.float32(data.reward_scale) * (
        columns['rewards'] - np.float32(data.reward_offset))
    return np.concatenate([
        states[0], columns['actions'], rewards[:, np.newaxis],
        columns['discounts'][:, np.newaxis], states[1]], axis=1)

  def __call__(self, step: tf.Tensor) -> trajectory.Transition:
    """The batch of `step`: the data's rows, then the collected ones."""
    share = self._share(step - self._first_step)
    count = tf.cast(tf.round(share * self._batch_size), tf.int64)
    is_offline = tf.range(self._batch_size, dtype=tf.int64) < count
    rows = tf.where(
        is_offline[:, tf.newaxis],
        self._offline.rows(self._offline.indices(step)),
        self._buffer.draw(
            self._batch_size, noise.fold(self._seed, _ROWS, step)))
    return sampling.from_rows(rows, self._offline.widths)

  def metrics(self) -> dict[str, float]:
    """Means over the steps of the last collection."""
    assert self._last is not None and self._layout is not None
    columns = self._layout.split(self._last)
    return {f'collected_{name}': float(np.mean(columns[name], dtype=np.float64))
            for name in ('rewards', 'q_std', 'in_support') if name in columns}

  def state(self) -> dict[str, Any]:
    """How many rows there are, their checksum, the gate's threshold."""
    return {'reached': self._reached}

  def facts(self) -> dict[str, Any]:
    """How to read the rows."""
    assert self._layout is not None
    return {'layout': self._layout._asdict()}


class _Reached(tf.Module):
  """What a checkpoint holds of the collection."""

  def __init__(self) -> None:
    super().__init__(name='reached')
    self.count, self.checksum = (
        tf.Variable(tf.constant(0, tf.int64), trainable=False)
        for _ in range(2))
    self.threshold = tf.Variable(_NOT_MEASURED, trainable=False)


class _Buffer:
  """Rows that grow; not a `tf.Module`, so that none is saved twice."""

  def __init__(self, width: int, size: int = 4_096):
    self._rows = tf.Variable(
        tf.zeros([size, width]), trainable=False,
        shape=tf.TensorShape([None, width]))
    self._count = tf.Variable(tf.constant(0, tf.int64), trainable=False)

  def add(self, rows: np.ndarray) -> None:
    """Adds rows `[N, width]`."""
    count = int(self._count)
    needed = count + len(rows)
    size = int(tf.shape(self._rows)[0])
    if needed > size:
      self._rows.assign(tf.pad(
          self._rows, [[0, max(needed, 2 * size) - size], [0, 0]]))
    self._rows[count:needed].assign(rows)
    self._count.assign(needed)

  def draw(self, count: int, seed: tf.Tensor) -> tf.Tensor:
    """Uniform rows, with replacement, `[count, width]`."""
    return tf.gather(self._rows, tf.random.stateless_uniform(
        [count], seed, maxval=tf.maximum(self._count, 1), dtype=tf.int64))
