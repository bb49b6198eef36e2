"""From an offline run's folder to the configuration of its fine-tuning."""
import pathlib
from collections.abc import Sequence
from typing import Any, Optional

import gin

from drvf_tf import errors
from drvf_tf.runs import configuration, run_reader

GIN_FILE = 'gin/finetune.gin'


def configure(run: str, out: Optional[str] = None, files: Sequence[str] = (),
              bindings: Sequence[str] = ()) -> pathlib.Path:
  """Parses the configuration of a fine-tuning, and checks it.

  Args:
    run: The offline run's folder.
    out: Folder of the fine-tuning; beside the run's by default.
    files: gin files on top of the run's configuration and `GIN_FILE`.
    bindings: gin bindings on top.

  Returns:
    The folder. gin holds the configuration now, `train_eval` can be called.

  Raises:
    UserError: The run cannot be fine-tuned, or not in that folder.
  """
  reader = run_reader.RunReader(pathlib.Path(run).absolute())
  facts = reader.read_facts()
  _check_run(reader, facts)
  reader.checkpoint('last')  # there is one, and it is whole
  first = reader.saved_step()
  gin.clear_config()  # the run's configuration, and nothing of another run's
  configuration.parse(
      [str(reader.config_file), GIN_FILE, *files],
      [f'OFFLINE_STEPS={first}', f'offline_start.run={str(reader.path)!r}',
       *_pessimism(reader), *bindings])
  num_steps = first + gin.query_parameter('ONLINE_STEPS/macro.value')
  name = _policy_name()
  with gin.unlock_config():
    for parameter, value in (
        ('train_eval.num_steps', num_steps),
        ('train_eval.method', f'{facts["method"]}, then {name}'),
        ('OnlineBatches.first_step', first),
        ('OnlineBatches.environment',
         gin.query_parameter('train_eval.environment'))):
      gin.bind_parameter(parameter, value)
  _check_task(reader, facts)
  _check_calls(reader, first)
  folder = pathlib.Path(out) if out else (
      reader.path.with_name(f'{reader.path.name}_{name.replace(" ", "_")}'))
  _check_folder(folder, reader, num_steps)
  return folder


def _pessimism(reader: run_reader.RunReader) -> list[str]:
  """α of the run's lower bounds at its end, for files that let it fade."""
  own = reader.bindings()
  alphas = {name: own.get(f'{name}/FadingLcb.then',
                          own.get(f'{name}/lcb.alpha'))
            for name in ('target', 'actor')}
  return [f'{name.upper()}_ALPHA={alpha}'
          for name, alpha in alphas.items() if alpha is not None]


def _policy_name() -> str:
  """Of what collects, for folders and tables."""
  name = _bare('policy')
  fallback = _bare('fallback')
  return name if fallback == 'None' else f'gated {name}'


def _bare(parameter: str) -> str:
  value = gin.query_parameter(f'OnlineBatches.{parameter}')
  return str(value).lstrip('@').rpartition('.')[2]


def _check_run(reader: run_reader.RunReader, facts: dict[str, Any]) -> None:
  if 'offline' in facts:
    raise errors.UserError(
        f'{reader.path} is a fine-tuning itself: name the offline run that it '
        f'started from, --run={facts["offline"]["run"]}, and more steps with '
        '--gin_param="ONLINE_STEPS=..." where it shall go on.')
  if 'train_eval.batches' in reader.bindings():
    raise errors.UserError(
        f'{reader.path} is a run of {facts["method"]}, which learns from the '
        'rollouts of a dynamics model that fine-tuning does not have: name a '
        'run of a method without a model.')


def _check_task(reader: run_reader.RunReader, facts: dict[str, Any]) -> None:
  task = gin.get_bindings('train_eval')['environment']()
  if task.name != facts['task']:
    raise errors.UserError(
        f'{reader.path} is a run of {facts["task"]}, not of {task.name}: '
        'fine-tune it in its own task, or name a run of the other.')


def _check_calls(reader: run_reader.RunReader, first: int) -> None:
  portion = gin.get_bindings('train_eval').get('steps_per_call', 50)
  if first % portion:
    raise errors.UserError(
        f'The last checkpoint of {reader.path} is of step {first:,}, no '
        f'multiple of train_eval.steps_per_call = {portion}: let the run '
        'finish, or give a steps_per_call that divides it.')


def _check_folder(folder: pathlib.Path, reader: run_reader.RunReader,
                  num_steps: int) -> None:
  """Refuses a folder of something else, and one that is finished."""
  own = run_reader.RunReader(folder)
  facts = own.known_facts()
  if not facts:
    return
  if 'offline' not in facts:
    raise errors.UserError(
        f'{folder} holds a run that is no fine-tuning: choose another --out.')
  started = facts['offline']['run']
  if pathlib.Path(started) != reader.path:
    raise errors.UserError(
        f'{folder} is the fine-tuning of {started} ({facts["task"]}), not of '
        f'{reader.path}: choose another --out.')
  if own.summary is not None and own.saved_step() >= num_steps:
    online = own.saved_step() - facts['offline']['step']
    raise errors.UserError(
        f'{folder} is a finished fine-tuning of {online:,} online steps: ask '
        'for more with --gin_param="ONLINE_STEPS=...", choose another --out, '
        f'or draw it with --show={folder}.')
