"""The agent of a run folder, as it was at one of its checkpoints."""
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import gin
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.runs import building, configuration, run_reader, runtime


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
  facts: dict[str, Any]


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
  reader = run_reader.RunReader(pathlib.Path(run))
  facts, config = reader.read_facts(), reader.config()
  path = reader.checkpoint(checkpoint)
  gin.clear_config()  # the run's configuration, and nothing of another run's
  configuration.parse([str(reader.config_file)],
                      ['loading.load.card=False', *bindings])
  with errors.of_configuration():
    runtime.configure_runtime()
    agent, dataset, step = building.from_gin()
  if dataset.hash() != facts['dataset_hash']:
    raise errors.UserError(
        f'{run} was trained on data of another content than '
        f'{dataset.provenance}: bring back the file it was trained on.')
  _read(path, agent=agent, step=step)
  return RestoredRun(agent, dataset, int(step.numpy()), config, facts)


def _read(path: pathlib.Path, **trackables: Any) -> None:
  try:
    status = tf.train.Checkpoint(**trackables).read(str(path / 'ckpt'))
    # The optimizers' slots stay in the file: nothing is trained here.
    status.assert_existing_objects_matched().expect_partial()
  except (tf.errors.OpError, AssertionError) as error:
    raise errors.UserError(
        f'The checkpoint {path} is whole, but of another version of the '
        'agent: restore it with the drvf_tf that run.json names.') from error
