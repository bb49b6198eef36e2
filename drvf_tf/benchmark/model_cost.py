"""What a dynamics model adds to a run: its fit, and its rollouts."""
import pathlib
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple, Optional

import gin
import numpy as np

from drvf_tf.data import offline_dataset
from drvf_tf.train import methods

_ROWS = 20_000  # random ones: what a step costs does not depend on them
_SIZE = 1_000_000  # of D4RL's medium datasets: how long an epoch is does
_FIT_STEPS = 40


class ModelCost(NamedTuple):
  """CPU time of one core.

  Attributes:
    rollouts: Seconds of a round, per train step.
    fit_step: Seconds of a step of the fit.
    fit_steps: Steps of the fit, at the most.
    num_steps: Train steps of the run.
  """
  rollouts: float
  fit_step: float
  fit_steps: int
  num_steps: int


def measure(files: Sequence[str], bindings: Sequence[str],
            sizes: tuple[int, int]) -> Optional[ModelCost]:
  """Fits and rolls out a model on random rows; None where there is none.

  Args:
    files: gin files of the method.
    bindings: gin bindings on top.
    sizes: (observation, action).

  Returns:
    The cost. gin holds the method's configuration now.
  """
  methods.agent_of(files, bindings, *sizes)
  if 'batches' not in gin.get_bindings('train_eval'):
    return None
  fit = gin.get_bindings('ModelFit')
  batch = fit['batch_size']
  steps = fit['max_epochs'] * (fit['steps_per_epoch'] or -(-_SIZE // batch))
  agent = methods.agent_of(
      files, [*bindings, f'ModelFit.steps_per_epoch={_FIT_STEPS}',
              'ModelFit.max_epochs=2', 'ModelFit.min_gain=0.0'], *sizes)
  settings = gin.get_bindings('train_eval')
  source = settings['batches'](_data(*sizes), settings['batch_size'], 0)
  with tempfile.TemporaryDirectory() as folder:
    source.begin(agent, pathlib.Path(folder), chief=True)
  facts = source.facts()['dynamics']
  source.refresh(0)  # traces
  start = time.process_time()
  source.refresh(source.interval)
  return ModelCost((time.process_time() - start) / source.interval,
                   facts['cpu_seconds'] / facts['steps'], steps,
                   settings['num_steps'])


def sentence(cost: ModelCost, step: float) -> str:
  """What the model adds, in words.

  Args:
    cost: Of the model.
    step: CPU seconds of a train step without it.

  Returns:
    A sentence.
  """
  fit = cost.fit_steps * cost.fit_step
  run = cost.num_steps * (step + cost.rollouts)
  return (f'rollouts add {1e3 * cost.rollouts:.1f} CPU ms a step; the fit '
          f'takes {1e3 * cost.fit_step:.1f} a step of its own, '
          f'{cost.fit_steps:,} steps at the most on {_SIZE:,} rows, which is '
          f'{100 * fit / (fit + run):.0f} % of a run of {cost.num_steps:,} '
          'steps.')


def _data(observation: int, action: int) -> offline_dataset.OfflineDataset:
  rng = np.random.default_rng(0)
  return offline_dataset.OfflineDataset(
      observations=rng.normal(size=[_ROWS, observation]).astype(np.float32),
      actions=rng.uniform(-1, 1, size=[_ROWS, action]).astype(np.float32),
      rewards=rng.normal(size=_ROWS).astype(np.float32),
      next_observations=rng.normal(
          size=[_ROWS, observation]).astype(np.float32),
      terminals=np.zeros(_ROWS, bool),
      episode_ends=np.arange(1, _ROWS + 1) % 1_000 == 0, name='random rows',
      action_low=-np.ones(action, np.float32),
      action_high=np.ones(action, np.float32))
