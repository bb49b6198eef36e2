"""gin files by what they are: of a task, of a method, of a method on a task."""
import pathlib
import re
from collections.abc import Iterator
from typing import Optional

from drvf_tf import errors, project_files
from drvf_tf.runs import binding_checks

# The method of the task files themselves.
DRVF = 'drvf'
_BASELINES = 'gin/baselines'


def tasks() -> dict[str, str]:
  """D4RL's names of the tasks that have a gin file, by the file's stem."""
  found = {path.stem: task_name(path)
           for path in sorted((project_files.ROOT / 'gin').glob('*.gin'))}
  return {stem: name for stem, name in found.items() if name is not None}


def task_name(path: pathlib.Path) -> Optional[str]:
  """The D4RL task that a gin file, or one that it includes, is for."""
  text = path.read_text(encoding='utf-8')
  own = re.search(r"^TASK = '(.+)'", text, re.M)
  if own:
    return own.group(1)
  for file in re.findall(r"^include '(.+)'", text, re.M):
    included = project_files.find(file)
    name = task_name(included) if included else None
    if name:
      return name
  return None


def methods() -> list[str]:
  """Names that `of_method` takes."""
  folder = project_files.ROOT / _BASELINES
  return [DRVF, *sorted(path.stem for path in folder.glob('*.gin'))]


def of_task(task: str) -> str:
  """The gin file of a task.

  Args:
    task: D4RL's name, with its version or without, such as hopper-medium-v2;
      the stem of the file, such as quickstart; or the file itself.

  Raises:
    UserError: There is none.
  """
  if task.endswith('.gin'):
    return known_file(task)
  known = tasks()
  for stem, name in known.items():
    if task in (stem, stem.replace('_', '-')) or (
        _stem(name) == stem and task in (name, _without_version(name))):
      return f'gin/{stem}.gin'
  names = [name if _stem(name) == stem else stem
           for stem, name in known.items()]
  raise errors.UserError(
      f'There is no gin file for a task {task!r}: '
      + binding_checks.did_you_mean(task, names))


def of_method(method: str, task_file: str) -> Optional[str]:
  """The gin file of a method on a task; None for DRVF, which needs none.

  Args:
    method: The stem of a file in gin/baselines, such as edac; or drvf.
    task_file: From `of_task`.

  Returns:
    gin/baselines/edac/hopper_medium.gin or gin/baselines/iql_antmaze.gin where
    there is such a file, else gin/baselines/edac.gin.

  Raises:
    UserError: There is no such method.
  """
  if method == DRVF:
    return None
  if method not in methods():
    raise errors.UserError(
        f'There is no method {method!r}: '
        + binding_checks.did_you_mean(method, methods()))
  for file in _candidates(method, task_file):
    if (project_files.ROOT / file).is_file():
      return file
  return f'{_BASELINES}/{method}.gin'


def _candidates(method: str, task_file: str) -> Iterator[str]:
  """What may be the method's own file for the task, the best first."""
  stems = [pathlib.Path(task_file).stem]
  path = project_files.find(task_file)
  name = task_name(path) if path else None
  if name:  # gin/quickstart.gin is on maze2d-umaze
    stems.append(_stem(name))
  for stem in stems:
    yield f'{_BASELINES}/{method}/{stem}.gin'
  for stem in stems:
    yield f'{_BASELINES}/{method}_{stem.partition("_")[0]}.gin'


def known_file(file: str) -> str:
  """The path of a file, the same from whichever folder it was named.

  Args:
    file: Looked for in the working directory, then in the project.

  Returns:
    Relative to the project for its own files, else absolute.

  Raises:
    UserError: There is none.
  """
  path = project_files.find(file)
  if path is None:
    root = project_files.ROOT
    raise errors.UserError(
        f'There is no file {file}: those of the project are in {root / "gin"} '
        f'and {root / "sweeps"}.')
  return project_files.name(path)


def _without_version(task: str) -> str:
  return re.sub(r'-v\d+$', '', task)


def _stem(task: str) -> str:
  return _without_version(task).replace('-', '_')
