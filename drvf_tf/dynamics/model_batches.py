"""Batches of which a share is a model's: one more source of the loop's."""
import pathlib
import sys
import time
from typing import Any, Callable, Optional

import gin
import tensorflow as tf
from tf_agents.trajectories import policy_step, trajectory

from drvf_tf.data import offline_dataset, sampling
from drvf_tf.dynamics import (
  model_files,
  model_fit,
  rollouts,
  terminations,
)
from drvf_tf.networks import noise
from drvf_tf.runs import run_reader

_PORTION = 5_000  # rollouts at once: more do not fit into a CPU's cache
# What random draws are for; each has a stream of its own.
_ROUND, _ROWS = 0x4d4f5045, 0x4d4f5046


@gin.configurable
class ModelBatches(sampling.BatchSource):
  """Rows of the data, and rows of rollouts of the policy in a model.

  Every `interval` steps a round of rollouts starts at states of the data, with
  the policy of that step; the last `rounds` rounds are what the model's rows
  are drawn from. A round is a function of the seed, its step and the policy: a
  checkpoint holds the policies of the rounds, and a run that resumes makes the
  same rows again.
  """

  def __init__(self,
               dataset: offline_dataset.OfflineDataset,
               batch_size: int,
               seed: int,
               fit: Callable[[], model_fit.ModelFit] = model_fit.ModelFit,
               real_share: float = 0.05,
               rollout_length: int = 5,
               rollout_batch: int = 50_000,
               interval: int = 1_000,
               rounds: int = 5,
               penalty: float = 0.0,
               termination: terminations.Termination = terminations.never):
    """Creates the source; `begin` fits the model.

    Args:
      dataset: The transitions.
      batch_size: Rows of a batch.
      seed: Of every draw.
      fit: Gives the settings of the model's fit.
      real_share: Share of a batch that is the data's.
      rollout_length: h, steps of a rollout at the most.
      rollout_batch: Rollouts of a round.
      interval: Train steps between rounds.
      rounds: How many of the last rounds rows are drawn from.
      penalty: λ of MOPO's penalty; 0 for none.
      termination: Of the task; see `terminations`.
    """
    super().__init__(name='model_batches')
    if not 0.0 <= real_share <= 1.0:
      raise ValueError(
          f'real_share must be between 0 and 1, not {real_share}.')
    if min(rollout_length, rollout_batch, interval, rounds) < 1:
      raise ValueError('rollout_length, rollout_batch, interval and rounds '
                       'must be at least 1.')
    if penalty < 0:
      raise ValueError(f'penalty must not be negative, not {penalty}.')
    self.interval = self._interval = interval
    self._seed, self._fit = seed, fit()
    self._length, self._batch = rollout_length, rollout_batch
    self._penalty, self._termination = penalty, termination
    num_real = round(real_share * batch_size)
    self._real = sampling.TransitionSampler(dataset, num_real, seed)
    self._num_rows = batch_size - num_real
    self._buffer = _Buffer(
        rounds, rollout_length * rollout_batch, sum(self._real.widths))
    self._policies = _Policies(rounds)
    self._rollouts: Optional[rollouts.Rollouts] = None
    self._whole = False  # whether the buffer has all that it should have
    self._facts: dict[str, Any] = {}

  @property
  def dataset(self) -> offline_dataset.OfflineDataset:
    """The data, as views of one tensor."""
    return self._real.dataset

  def begin(self, agent: Any, folder: pathlib.Path, chief: bool) -> None:
    """Finds or fits the model; see `BatchSource.begin`."""
    fitted = self._model(folder, chief)
    self._facts = {key: fitted.facts[key] for key in (
        'held_out_mse', 'epochs', 'steps', 'seconds', 'cpu_seconds')}
    self._facts['parameters'] = sum(
        v.shape.num_elements() for v in fitted.model.trainable_variables)
    self._policies.follow(agent.actor_network)
    self._rollouts = rollouts.Rollouts(
        fitted.model, self._policies.network, self._length, self._penalty,
        self._termination, self.dataset.observation_mean,
        self.dataset.observation_std)

  def _model(self, folder: pathlib.Path, chief: bool) -> model_files.Fitted:
    """The model of these data and settings, in the run folder from now on."""
    identity = self._fit.identity(self.dataset, self._seed)
    home = run_reader.RunReader(folder).dynamics_folder
    while not chief:  # the chief fits it
      fitted = model_files.load(home, identity)
      if fitted is not None:
        return fitted
      time.sleep(1.0)
    found = model_files.find(folder, identity)
    if found is None:
      fitted = self._fit.run(self.dataset, identity, home)
    else:
      place, fitted = found
      if place != folder:
        print(f'The dynamics model of {place} is of the same data and '
              'settings: it is used again.', file=sys.stderr)
    if found is None or place != folder:
      model_files.save(home, fitted)
      model_fit.clean(home)
    return fitted

  def refresh(self, step: int) -> None:
    """Rolls out where a round is due, or was lost with a process."""
    if not self._whole:
      for slot, started in enumerate(self._policies.steps()):
        if started >= 0:
          self._round(slot, started)
      self._whole = True
    if step % self._interval == 0:
      slot = step // self._interval % self._buffer.rounds
      self._policies.keep(slot, step)
      self._round(slot, step)

  def _round(self, slot: int, step: int) -> None:
    """Fills a slot with the rollouts that started at a step."""
    assert self._rollouts is not None
    self._policies.take(slot)
    self._buffer.empty(slot)
    for first in range(0, self._batch, _PORTION):
      count = min(_PORTION, self._batch - first)
      seed = noise.fold(self._seed, _ROUND, step, first)
      starts = tf.random.stateless_uniform(
          [count], seed, maxval=self.dataset.size, dtype=tf.int64)
      states = self._real.rows(starts)[:, :self._real.widths[0]]
      self._buffer.append(slot, self._rollouts(states, noise.fold(
          self._seed, _ROUND, step, first + 1)))

  def __call__(self, step: tf.Tensor) -> trajectory.Transition:
    """The batch of `step`: the data's rows, then the model's.

    `action_step.info` is what makes a mean over the batch one over the data's
    rows: their weight, `[B]`, is 0 at the model's.
    """
    real = self._real.rows(self._real.indices(step))
    rows = self._buffer.draw(
        self._num_rows, noise.fold(self._seed, _ROWS, step))
    batch = sampling.from_rows(
        tf.concat([real, rows], axis=0), self._real.widths)
    num_real = self._real.batch_size
    size = num_real + self._num_rows
    weights = tf.concat([tf.fill([num_real], size / max(num_real, 1)),
                         tf.zeros([self._num_rows])], axis=0)
    return batch._replace(action_step=policy_step.PolicyStep(
        batch.action_step.action, (), weights))

  def state(self) -> dict[str, Any]:
    """The policies of the rounds, and their steps."""
    return {'rounds': self._policies}

  def facts(self) -> dict[str, Any]:
    """The model's fit."""
    return {'dynamics': self._facts}


class _Buffer:
  """Rows of the last rounds; not a `tf.Module`, so that none is saved."""

  def __init__(self, rounds: int, capacity: int, width: int):
    self.rounds, self._capacity = rounds, capacity
    self._rows = tf.Variable(
        tf.zeros([rounds * capacity, width]), trainable=False)
    self._counts = tf.Variable(
        tf.zeros([rounds], tf.int64), trainable=False)

  def empty(self, slot: int) -> None:
    """Forgets the rows of a slot."""
    self._counts[slot].assign(0)

  def append(self, slot: int, rows: tf.Tensor) -> None:
    """Adds rows `[R, width]` to a slot."""
    count = int(self._counts[slot])
    first = slot * self._capacity + count
    self._rows[first:first + len(rows)].assign(rows)
    self._counts[slot].assign(count + len(rows))

  def draw(self, count: int, seed: tf.Tensor) -> tf.Tensor:
    """Uniform rows of all slots, with replacement, `[count, width]`."""
    ends = tf.cumsum(self._counts)
    drawn = tf.random.stateless_uniform(
        [count], seed, maxval=tf.maximum(ends[-1], 1), dtype=tf.int64)
    slots = tf.searchsorted(ends, drawn, side='right', out_type=tf.int64)
    before = tf.gather(ends - self._counts, slots)
    return tf.gather(self._rows, slots * self._capacity + drawn - before)


class _Policies(tf.Module):
  """The policies of the last rounds, and the steps that they are of."""

  def __init__(self, rounds: int):
    super().__init__(name='policies')
    self._steps = tf.Variable(
        tf.fill([rounds], tf.constant(-1, tf.int64)), trainable=False)
    self._kept: list[tf.Variable] = []

  def follow(self, actor: Any) -> None:
    """Makes room for copies of an actor."""
    self._actor = _Untracked(actor)
    copy = actor.copy(name='RolloutActor')
    copy.create_variables()
    self._copy = _Untracked(copy)
    rounds = self._steps.shape[0]
    self._kept = [
        tf.Variable(tf.zeros([rounds, *v.shape], v.dtype), trainable=False)
        for v in copy.variables]

  @property
  def network(self) -> Any:
    """The actor whose weights `take` sets."""
    return self._copy.value

  def steps(self) -> list[int]:
    """The step of each slot, −1 where there is none."""
    return self._steps.numpy().tolist()

  def keep(self, slot: int, step: int) -> None:
    """Notes the actor as it is."""
    self._steps[slot].assign(step)
    for kept, variable in zip(self._kept, self._actor.value.variables):
      kept[slot].assign(tf.convert_to_tensor(variable))

  def take(self, slot: int) -> None:
    """Sets the network to the actor of a slot."""
    for kept, variable in zip(self._kept, self.network.variables):
      variable.assign(kept[slot])


class _Untracked:
  """Hides a network from checkpoints."""

  def __init__(self, value: Any):
    self.value = value
