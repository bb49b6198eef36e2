"""What a sweep runs, from a gin file of `sweep.*` bindings and from flags."""
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import gin
from absl import logging

from drvf_tf import errors, project_files
from drvf_tf.runs import binding_checks, gin_files


class Plan(NamedTuple):
  """Tasks × methods × seeds, and what every run has in common.

  Attributes:
    tasks: gin files, one for each task; `read` takes names of tasks, too.
    methods: By name, the gin files and bindings (`name.parameter=value`) that
      come after a task's; the task's alone is DRVF. <file>/<task>.gin is taken
      instead of <file>.gin where there is one. A method's name, such as edac,
      stands for its file for each task.
    seeds: Of the runs.
    gin_files: For every run, after the task's and the method's.
    bindings: For every run, over all files.
  """
  tasks: tuple[str, ...]
  methods: dict[str, tuple[str, ...]]
  seeds: tuple[int, ...]
  gin_files: tuple[str, ...]
  bindings: tuple[str, ...]


@gin.configurable
def sweep(tasks: Sequence[str] = (),
          methods: Optional[Mapping[str, Sequence[str]]] = None,
          seeds: Sequence[int] = (0,),
          gin_files: Sequence[str] = (),
          bindings: Sequence[str] = ()) -> Plan:
  """A plan, as it was written; see `Plan` for the arguments."""
  named: dict[str, Any] = dict({'drvf': ()} if methods is None else methods)
  return Plan(tuple(tasks), named, tuple(seeds), tuple(gin_files),
              tuple(bindings))


def read(file: Optional[str], **given: Any) -> Plan:
  """The plan of a sweep file, with what was given in place of the file's own.

  Args:
    file: Of `sweep.*` bindings; None where everything is given.
    **given: Arguments of `sweep`; None leaves the file's. `gin_files` and
      `bindings` are added to the file's instead.

  Raises:
    UserError: A file is missing, or the plan makes no sense.
  """
  gin.clear_config()
  if file is not None:
    _parse(gin_files.known_file(file))
  arguments = {name: value for name, value in given.items()
               if value is not None}
  for name in ('gin_files', 'bindings'):
    arguments[name] = (*_bound(name), *arguments.get(name, ()))
  plan = sweep(**arguments)
  plan = plan._replace(tasks=tuple(map(gin_files.of_task, plan.tasks)))
  _check(plan)
  return plan._replace(
      methods={name: tuple(map(_known_method, files))
               for name, files in plan.methods.items()},
      gin_files=tuple(map(gin_files.known_file, plan.gin_files)))


def _known_method(file: str) -> str:
  """A method's gin file, name or binding; refused unless there is such."""
  if is_binding(file):
    return file
  if file.endswith('.gin'):
    return gin_files.known_file(file)
  gin_files.of_method(file, '')
  return file


def is_binding(part: str) -> bool:
  """Whether a part of a method is a binding, not a file or a name."""
  return '=' in part


def _check(plan: Plan) -> None:
  if not plan.tasks:
    raise errors.UserError(
        'Which tasks? Name them with --task=hopper-medium-v2, or a sweep '
        'file with --sweep=sweeps/maze2d_smoke.gin.')
  for name, files in plan.methods.items():
    if not re.fullmatch(r'[\w.+-]*\w[\w.+-]*', name):
      raise errors.UserError(
          f'{name!r} cannot name a method, since a folder is named after it: '
          'use letters, digits and _ . + - only.')
    if not isinstance(files, (tuple, list)):
      raise errors.UserError(
          f'The method {name} must be a tuple of gin files or bindings, e.g. '
          f"('gin/bc_actor.gin',), not {files!r}.")
  names = [*(f'task {pathlib.Path(task).stem}' for task in plan.tasks),
           *(f'seed {seed}' for seed in plan.seeds)]
  for name in names:
    if names.count(name) > 1:
      raise errors.UserError(
          f'The {name} is there twice: a folder is named after it, so name it '
          'once.')


def _parse(file: str) -> None:
  verbosity = logging.get_verbosity()
  logging.set_verbosity(logging.FATAL)  # gin reports every place it looks at
  try:
    gin.parse_config_file(str(project_files.ROOT / file))
  except (ValueError, KeyError, ImportError, OSError, SyntaxError) as error:
    text = ' '.join(str(error).split())
    raise errors.UserError(
        f'The sweep file {file} cannot be read, since it may hold nothing but '
        'sweep.tasks, sweep.methods, sweep.seeds, sweep.gin_files and '
        f'sweep.bindings: {text}') from error
  finally:
    logging.set_verbosity(verbosity)
  binding_checks.check_bindings()


def _bound(name: str) -> tuple[str, ...]:
  try:
    return tuple(gin.query_parameter(f'sweep.{name}'))
  except ValueError:  # not bound
    return ()
