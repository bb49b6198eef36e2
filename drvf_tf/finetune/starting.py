"""Where a fine-tuning starts: the agent as an offline run left it."""
import pathlib
import tempfile
from typing import Any

import gin
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.runs import run_reader

_RATE = '/learning_rate/.ATTRIBUTES/VARIABLE_VALUE'
_Optimizer = tf.keras.optimizers.legacy.Optimizer


@gin.configurable
def offline_start(agent: Any, step: tf.Variable,
                  dataset: offline_dataset.OfflineDataset,
                  run: str = gin.REQUIRED,
                  checkpoint: str = 'last') -> dict[str, Any]:
  """Weights, targets, temperature and optimizers of a run, and its step.

  Learning rates are those of the present configuration.

  Args:
    agent: To set; its optimizers have their variables.
    step: Its train step, to set.
    dataset: What it goes on with.
    run: The offline run's folder; nothing is written to it.
    checkpoint: 'last', 'best', or a step.

  Returns:
    What run.json says of the start: the run, its task, step and score.

  Raises:
    UserError: The run has no such checkpoint, other data or another agent.
  """
  reader = run_reader.RunReader(pathlib.Path(run))
  facts, path = reader.read_facts(), reader.checkpoint(checkpoint)
  if dataset.hash() != facts['dataset_hash']:
    raise errors.UserError(
        f'{run} was trained on data of another content than '
        f'{dataset.provenance}: bring back the file it was trained on.')
  optimizers = {name: part for name, part in vars(agent).items()
                if isinstance(part, _Optimizer)}
  rates = {name: _value(optimizer.learning_rate)
           for name, optimizer in optimizers.items()}
  _read(path, agent=agent, step=step)
  for name, optimizer in optimizers.items():
    optimizer.learning_rate = rates[name]
  _check_rates(rates, step)
  return {'offline': {'run': run, 'step': int(step.numpy()),
                      'method': facts['method'], **_score(reader)}}


def _value(rate: Any) -> Any:
  """A rate as it may be set again: a number, or its schedule."""
  return rate if callable(rate) else float(rate)


def _read(path: pathlib.Path, **trackables: Any) -> None:
  checkpoint = tf.train.Checkpoint(**trackables)
  saved = _shapes(path / 'ckpt')
  with tempfile.TemporaryDirectory() as folder:
    own = _shapes(checkpoint.write(str(pathlib.Path(folder) / 'ckpt')))
  # A schedule has no variable, a constant rate has one.
  missing = [name for name, shape in own.items()
             if saved.get(name) != shape and not name.endswith(_RATE)]
  if missing:
    raise errors.UserError(
        f'The checkpoint {path} is of another agent than the configuration '
        f'has ({missing[0].partition("/.ATTR")[0]} differs): leave networks '
        'and optimizers as the run has them, and use the drvf_tf that its '
        'run.json names.')
  checkpoint.read(str(path / 'ckpt')).expect_partial()


def _shapes(path: Any) -> dict[str, list[int]]:
  return tf.train.load_checkpoint(str(path)).get_variable_to_shape_map()


def _check_rates(rates: dict[str, Any], step: tf.Variable) -> None:
  settled = [name.strip('_').removesuffix('_optimizer')
             for name, rate in rates.items()
             if callable(rate) and float(rate(step)) == 0.0]
  if settled:
    given = ' '.join(f'--gin_param="build_agent.{name}_learning_rate=3e-5"'
                     for name in settled)
    raise errors.UserError(
        f'The learning rate of the run\'s {" and ".join(settled)} is 0 from '
        f'step {int(step.numpy()):,} on, so that nothing would be learned '
        f'online: give one, e.g. {given}.')


def _score(reader: run_reader.RunReader) -> dict[str, Any]:
  """The run's last evaluation: the final one, where it is finished."""
  rows = reader.evaluations()
  if not rows:
    return {}
  return {'score': rows[-1]['score'], 'mean_return': rows[-1]['mean_return'],
          'episodes': len(rows[-1]['returns'])}
