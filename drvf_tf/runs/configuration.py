"""gin files and bindings to a configuration, with errors a person can read."""
import importlib
import pkgutil
import re
from collections.abc import Sequence

import gin
from absl import logging

from drvf_tf import errors, project_files
from drvf_tf.runs import binding_checks

# Packages whose modules hold configurables.
_PACKAGES = ('agents', 'data', 'dynamics', 'finetune', 'losses', 'networks',
             'ope', 'train', 'policies')


def parse(files: Sequence[str], bindings: Sequence[str]) -> None:
  """Reads gin files, then bindings; later ones win.

  Args:
    files: Paths; includes are also looked for next to a file and in the
      project's own folder, so that any working directory will do.
    bindings: `name.parameter=value` each.

  Raises:
    UserError: A file is missing, or a line is not right.
  """
  register()
  gin.add_config_file_search_path(str(project_files.ROOT))
  for file in files:
    path = project_files.find(file)
    if path is None:
      raise errors.UserError(
          f'There is no gin file {file}: those of the project are in '
          f'{project_files.ROOT / "gin"}.')
    gin.add_config_file_search_path(str(path.parent))
  verbosity = logging.get_verbosity()
  logging.set_verbosity(logging.FATAL)  # gin reports every place it looks at
  try:
    gin.parse_config_files_and_bindings(files, bindings)
  except (ValueError, KeyError, ImportError, OSError, SyntaxError) as error:
    raise errors.UserError(_sentence(error)) from error
  finally:
    logging.set_verbosity(verbosity)
  binding_checks.check_bindings()


def check_complete() -> None:
  """Raises `UserError` unless what was parsed is a whole run.

  An overlay, such as gin/cpu.gin, is nothing by itself.
  """
  for part in ('dataset', 'agent', 'environment', 'evaluation'):
    try:
      gin.query_parameter(f'train_eval.{part}')
    except ValueError as error:  # not bound
      raise errors.UserError(
          f'The gin files give no {part} to train with, since none of them is '
          "a task's: name one first, e.g. --task=hopper-medium-v2 or "
          '--gin_file=gin/hopper_medium.gin.') from error


def register() -> None:
  """Imports every module of the project that holds configurables."""
  for name in _PACKAGES:
    package = importlib.import_module(f'drvf_tf.{name}')
    for module in pkgutil.iter_modules(package.__path__):
      if module.name != 'rollout_worker':
        importlib.import_module(f'drvf_tf.{name}.{module.name}')


def _sentence(error: Exception) -> str:
  text = ' '.join(str(error).split())
  macro = re.search(r"No bindings specified for '(\w+)/gin.macro'", text)
  if macro:
    return (f'{macro.group(1)} has no value: name the gin file of a task '
            'first, e.g. --gin_file=gin/hopper_medium.gin.')
  where = re.search(r'In (?:file )?"?([^"]*?)"?,? (line \d+)', text)
  place = f' ({where.group(1)}, {where.group(2)})' if where else ''
  unknown = re.search(
      r"No configurable matching (?:reference )?'@?([^'()]+)", text)
  if unknown:
    name = unknown.group(1)
    return (f'gin knows no name {name!r}{place}: '
            + binding_checks.did_you_mean(name, _configurables()))
  parameter = re.search(
      r"Configurable '([^']+)' doesn't have a parameter named '([^']+)'", text)
  if parameter:
    owner, name = parameter.groups()
    known = binding_checks.parameters(
        gin.config._REGISTRY.get_match(owner).wrapped)  # pylint: disable=protected-access
    return (f'gin knows no parameter of {owner} {name!r}{place}: '
            + binding_checks.did_you_mean(name, list(known)))
  return f'The gin configuration cannot be read: {text}'


def _configurables() -> list[str]:
  registry = gin.config._REGISTRY  # pylint: disable=protected-access
  return sorted({selector.split('.')[-1] for selector, _ in registry.items()
                 if selector.startswith('drvf_tf')})
