"""The agent of a run folder, as it was at one of its checkpoints."""
import json
import pathlib
from typing import Any, Dict, NamedTuple, Sequence, Tuple

import gin
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.train.utils import train_utils

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.runs import configuration, runtime


class RestoredRun(NamedTuple):
  """What a run folder gives back.

  Attributes:
    agent: The agent, restored.
    dataset: What it was trained on.
    step: The checkpoint's train step.
    config: The run's operative gin configuration.
    facts: The run's run.json.
  """
  agent: Any
  dataset: offline_dataset.OfflineDataset
  step: int
  config: str
  facts: Dict[str, Any]


def restore(run: str, checkpoint: str = 'last',
            bindings: Sequence[str] = ()) -> RestoredRun:
  """Builds a run's agent again and restores a checkpoint into it.

  Args:
    run: The run folder; nothing is written to it.
    checkpoint: 'last', 'best', or a step.
    bindings: gin bindings on top of the run's configuration.

  Returns:
    The agent and its surroundings. gin holds the run's configuration now.

  Raises:
    UserError: The folder holds no such checkpoint, it is damaged, or the
      data are not those of the run.
  """
  folder = pathlib.Path(run)
  config = folder / 'config.gin'
  if not config.exists():
    raise errors.UserError(
        f'{folder} is no run folder (it has no config.gin): give the folder '
        'that launch/train.py wrote.')
  path = checkpoint_path(folder, checkpoint)
  facts = json.loads((folder / 'run.json').read_text(encoding='utf-8'))
  gin.clear_config()  # the run's configuration, and nothing of another run's
  configuration.parse([str(config)], bindings)
  with errors.of_configuration():
    runtime.configure_runtime()
    agent, dataset, step = _build(gin.get_bindings('train_eval'))
  if dataset.hash() != facts['dataset_hash']:
    raise errors.UserError(
        f'{folder} was trained on data of another content than '
        f'{dataset.provenance}: bring back the file it was trained on.')
  _read(path, agent=agent, step=step)
  return RestoredRun(agent, dataset, int(step.numpy()),
                     config.read_text(encoding='utf-8'), facts)


def checkpoint_path(run: pathlib.Path, checkpoint: str) -> pathlib.Path:
  """The folder of a checkpoint.

  Args:
    run: The run folder.
    checkpoint: 'last', 'best', or a step.

  Returns:
    The folder, which exists.
  """
  folder = run / 'checkpoints'
  known = sorted(path.name for path in folder.glob('step_*'))
  steps = [str(int(name.split('_')[1])) for name in known]
  if not known:
    raise errors.UserError(
        f'{run} has no checkpoint yet: the first is written after '
        'train_eval.checkpoint_interval steps.')
  if checkpoint == 'last':
    return folder / known[-1]
  if checkpoint == 'best' and (folder / 'best').exists():
    return folder / 'best'
  if checkpoint in steps:
    return folder / known[steps.index(checkpoint)]
  raise errors.UserError(
      f'{run} has no checkpoint {checkpoint!r}: there are last, best and '
      f'{", ".join(steps)}.')


def _build(bindings: Dict[str, Any]
           ) -> Tuple[Any, offline_dataset.OfflineDataset, tf.Variable]:
  dataset = bindings['dataset']()
  step = train_utils.create_train_step()
  agent = bindings['agent'](
      tensor_spec.from_spec(dataset.time_step_spec),
      tensor_spec.from_spec(dataset.action_spec),
      num_batches=dataset.size / bindings['batch_size'],
      seed=bindings['seed'], train_step_counter=step)
  return agent, dataset, step


def _read(path: pathlib.Path, **trackables: Any) -> None:
  try:
    status = tf.train.Checkpoint(**trackables).read(str(path / 'ckpt'))
    # The optimizers' slots stay in the file: nothing is trained here.
    status.assert_existing_objects_matched().expect_partial()
  except (tf.errors.OpError, AssertionError) as error:
    raise errors.UserError(
        f'The checkpoint {path} cannot be read: it is damaged, or of another '
        'version of the agent; choose another with --checkpoint.') from error
