"""Fits a dynamics model to a dataset: a function of data, settings and seed."""
import dataclasses
import pathlib
import shutil
import time
from collections.abc import Sequence
from typing import Any, Optional

import gin
import numpy as np
import tensorflow as tf
import tqdm

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.dynamics import dynamics_ensemble, model_files, model_rows
from drvf_tf.losses import dynamics
from drvf_tf.runs import checkpoint_files
from drvf_tf.runs import checkpoints as checkpoints_lib

_PORTION = 100  # train steps in one call of the graph
_UNFINISHED = 'unfinished'  # checkpoints of a fit that is under way


@gin.configurable
class ModelFit:
  """How a model is fitted: maximum likelihood until held-out rows object."""

  def __init__(self,
               num_members: int = 7,
               num_elites: int = 5,
               hidden_units: Sequence[int] = (200, 200, 200, 200),
               weight_decay: Sequence[float] = (
                   2.5e-5, 5e-5, 7.5e-5, 7.5e-5, 1e-4),
               log_variance_bounds: Sequence[float] = (-10.0, 0.5),
               initial_log_variance: float = -4.0,
               bounds_weight: float = 0.01,
               learning_rate: float = 1e-3,
               batch_size: int = 256,
               steps_per_epoch: Optional[int] = None,
               max_epochs: int = 400,
               patience: int = 5,
               min_gain: float = 0.01,
               holdout_share: float = 0.2,
               holdout_rows: int = 1_000,
               window: int = 25,
               seed: Optional[int] = None):
    """Checks the settings.

    Args:
      num_members: M.
      num_elites: Members of the smallest held-out error, for rollouts.
      hidden_units: Widths of the swish layers.
      weight_decay: λ of each layer, the last one included.
      log_variance_bounds: Where the learned bounds of the log-variance start.
      initial_log_variance: Where it starts itself; see `DynamicsEnsemble`.
      bounds_weight: Of the term that draws them together.
      learning_rate: Adam's.
      batch_size: Rows of a step, drawn by each member from its own bootstrap.
      steps_per_epoch: None for as many as the data have batches.
      max_epochs: The fit ends here at the latest.
      patience: It ends after so many epochs without a gain of any member.
      min_gain: What counts as a gain, as a share of the held-out error.
      holdout_share: Of the rows, held out.
      holdout_rows: But not more than these.
      window: Consecutive rows that are held out together.
      seed: Of everything random; None for the run's.
    """
    if not 1 <= num_elites <= num_members:
      raise ValueError(
          f'num_elites must be between 1 and num_members = {num_members}, not '
          f'{num_elites}.')
    if len(weight_decay) != len(hidden_units) + 1:
      raise ValueError(
          f'weight_decay must have {len(hidden_units) + 1} numbers, one for '
          f'each layer and the last, not {len(weight_decay)}.')
    if min(batch_size, max_epochs, patience, window) < 1:
      raise ValueError(
          'batch_size, max_epochs, patience and window must be at least 1.')
    self._settings = {
        'num_members': num_members, 'num_elites': num_elites,
        'hidden_units': list(hidden_units),
        'weight_decay': list(weight_decay),
        'log_variance_bounds': list(log_variance_bounds),
        'initial_log_variance': initial_log_variance,
        'bounds_weight': bounds_weight, 'learning_rate': learning_rate,
        'batch_size': batch_size, 'steps_per_epoch': steps_per_epoch,
        'max_epochs': max_epochs, 'patience': patience, 'min_gain': min_gain,
        'holdout_share': holdout_share, 'holdout_rows': holdout_rows,
        'window': window}
    self._seed = seed

  def identity(self, dataset: offline_dataset.OfflineDataset,
               seed: int) -> dict[str, Any]:
    """All that the fitted model is a function of, in JSON's terms."""
    return {'data': dataset.hash(), **self._settings,
            'seed': seed if self._seed is None else self._seed}

  def run(self, dataset: offline_dataset.OfflineDataset,
          identity: dict[str, Any],
          folder: pathlib.Path) -> model_files.Fitted:
    """Fits a model, with a progress bar.

    Args:
      dataset: What it learns from.
      identity: What `identity` gave for it.
      folder: Where a fit that was stopped goes on.

    Returns:
      The model: of every member the weights of its best epoch.
    """
    fit = _Fit(dataset, identity)
    saved = checkpoints_lib.Checkpoints(
        folder / _UNFINISHED, keep=1, fit=fit.trackable)
    state = _saved_state(folder / _UNFINISHED, saved, identity)
    if state is None:
      clean(folder)
    fit.start(state)
    with tqdm.tqdm(desc='dynamics model', unit='step', mininterval=1,
                   total=fit.steps_per_epoch * identity['max_epochs'],
                   initial=fit.state.steps) as bar:
      while not fit.ended:
        fit.epoch(bar)
        saved.save(fit.state.epochs, {
            'identity': identity, 'fit': dataclasses.asdict(fit.state)})
    return fit.finish()


def split(dataset: offline_dataset.OfflineDataset,
          identity: dict[str, Any]) -> model_rows.Split:
  """The rows that a model of this identity learns from, and the others."""
  return model_rows.split(
      dataset, identity['holdout_share'], identity['holdout_rows'],
      identity['window'], identity['seed'])


def clean(folder: pathlib.Path) -> None:
  """Removes what is only needed while a fit is under way."""
  shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)


@dataclasses.dataclass
class _State:
  """Where a fit is, besides its variables.

  Attributes:
    best: Smallest held-out error of each member.
    epochs: Done.
    idle: Epochs since a member gained.
    steps: Train steps done.
    seconds: By the clock.
    cpu_seconds: Of this process's threads.
    history: Mean held-out error of the members after each epoch.
  """
  best: list[float]
  epochs: int = 0
  idle: int = 0
  steps: int = 0
  seconds: float = 0.0
  cpu_seconds: float = 0.0
  history: list[float] = dataclasses.field(default_factory=list)


def _saved_state(folder: pathlib.Path, saved: checkpoints_lib.Checkpoints,
                 identity: dict[str, Any]) -> Optional[_State]:
  """Restores a fit that was stopped; None where there is none of this kind."""
  try:
    for step in saved.steps():
      found = checkpoint_files.state(checkpoint_files.of_step(folder, step))
      if found['identity'] == identity:
        return _State(**saved.restore(step)['fit'])
  except checkpoint_files.Damaged:
    pass  # nothing but time is lost
  return None


class _Fit:
  """A fit under way."""

  def __init__(self, dataset: offline_dataset.OfflineDataset,
               identity: dict[str, Any]):
    self.identity = identity
    rows = split(dataset, identity)
    members, seed = identity['num_members'], identity['seed']
    inputs = model_rows.inputs(dataset, rows.train)
    targets = model_rows.targets(dataset, rows.train)
    self._model = dynamics_ensemble.DynamicsEnsemble(
        dataset.observation_size, dataset.actions.shape[1], members,
        identity['num_elites'], identity['hidden_units'],
        identity['log_variance_bounds'], identity['initial_log_variance'],
        10 * seed + 4_000)
    self._model.standardise(inputs, targets)
    self._inputs = self._model.standard_inputs(inputs)
    self._targets = self._model.standard_targets(targets)
    self._held_inputs = self._model.standard_inputs(
        model_rows.inputs(dataset, rows.held_out_rows))
    self._held_targets = self._model.standard_targets(
        model_rows.targets(dataset, rows.held_out_rows))
    # Each member's own draw of the rows, with replacement: [M, n].
    self._bootstrap = tf.random.stateless_uniform(
        [members, len(inputs)], [seed, 0], maxval=len(inputs), dtype=tf.int32)
    self.steps_per_epoch = identity['steps_per_epoch'] or -(
        -len(inputs) // identity['batch_size'])
    self._optimizer = tf.keras.optimizers.legacy.Adam(
        identity['learning_rate'])
    self._learned = list(self._model.trainable_variables)
    self._best = [tf.Variable(v, trainable=False) for v in self._learned]
    self._many_steps = tf.function(
        self._steps, input_signature=[tf.TensorSpec([], tf.int32)] * 2)
    # Creates the optimizer's variables, which a checkpoint restores.
    self._many_steps.get_concrete_function()
    self.trackable = tf.Module()
    self.trackable.parts = [self._model, self._optimizer, self._best]
    self.state = _State([])  # see `start`

  def start(self, state: Optional[_State] = None) -> None:
    """Goes on from a state, or from where every member is untrained."""
    self.state = state or _State(self._held_out_mse().tolist())

  @property
  def ended(self) -> bool:
    """Whether there is nothing more to gain, or no more time."""
    return (self.state.idle >= self.identity['patience']
            or self.state.epochs >= self.identity['max_epochs'])

  def epoch(self, bar: tqdm.tqdm) -> None:
    """Trains for an epoch, and keeps the members that gained."""
    clock, cpu = time.monotonic(), time.process_time()
    last = self.state.steps + self.steps_per_epoch
    while self.state.steps < last:
      count = min(_PORTION, last - self.state.steps)
      try:
        self._many_steps(self.state.steps, count)
      except tf.errors.InvalidArgumentError as error:
        raise errors.DivergedError(
            "the dynamics model's loss became NaN or infinite") from error
      self.state.steps += count
      bar.update(count)
    errors_now = self._held_out_mse()
    best = np.array(self.state.best)
    gained = errors_now < (1.0 - self.identity['min_gain']) * best
    self._keep(gained)
    self.state.best = np.where(gained, errors_now, best).tolist()
    self.state.idle = 0 if gained.any() else self.state.idle + 1
    self.state.epochs += 1
    self.state.history.append(float(errors_now.mean()))
    self.state.seconds += time.monotonic() - clock
    self.state.cpu_seconds += time.process_time() - cpu
    bar.set_postfix(epoch=self.state.epochs,
                    held_out_mse=f'{np.mean(self.state.best):.4g}')

  def finish(self) -> model_files.Fitted:
    """The model of every member's best epoch."""
    for variable, best in zip(self._learned, self._best):
      variable.assign(best)
    order = np.argsort(self.state.best, kind='stable')
    self._model.elites.assign(order[:self.identity['num_elites']])
    state = self.state
    return model_files.Fitted(self._model, {
        'identity': self.identity, 'held_out_mse': state.best,
        'history': state.history, 'epochs': state.epochs,
        'steps': state.steps, 'seconds': round(state.seconds, 3),
        'cpu_seconds': round(state.cpu_seconds, 3)})

  def _steps(self, first: tf.Tensor, count: tf.Tensor) -> None:
    for step in tf.range(first, first + count):
      self._step(step)

  @tf.autograph.experimental.do_not_convert
  def _step(self, step: tf.Tensor) -> None:
    """One step of all members, each on rows of its own bootstrap."""
    shape = [self.identity['num_members'], self.identity['batch_size']]
    drawn = tf.random.stateless_uniform(
        shape, [self.identity['seed'], step + 1],
        maxval=self._bootstrap.shape[1], dtype=tf.int32)
    rows = tf.gather(self._bootstrap, drawn, batch_dims=1)  # [M, B]
    with tf.GradientTape() as tape:
      mean, log_variance = self._model(
          tf.unstack(tf.gather(self._inputs, rows)))
      loss = dynamics.model_loss(
          mean, log_variance, tf.gather(self._targets, rows),
          self._model.low, self._model.high, self.identity['bounds_weight'])
      loss += dynamics.weight_decay(
          self._model.kernels, self.identity['weight_decay'])
    tf.debugging.check_numerics(loss, 'A loss is inf or nan.')
    self._optimizer.apply_gradients(
        zip(tape.gradient(loss, self._learned), self._learned))

  def _held_out_mse(self) -> np.ndarray:
    """Error of each member's mean in standard units, `[M]`."""
    mean, _ = self._model([self._held_inputs] * self._model.num_members)
    return tf.reduce_mean(
        tf.math.squared_difference(mean, self._held_targets),
        axis=[1, 2]).numpy().astype(np.float64)

  def _keep(self, gained: np.ndarray) -> None:
    for variable, best in zip(self._learned, self._best):
      chosen = tf.reshape(gained, [-1] + [1] * (variable.shape.rank - 1))
      best.assign(tf.where(chosen, variable, best))

