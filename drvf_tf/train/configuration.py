"""gin files and bindings to a configuration, with errors a person can read."""
import difflib
import importlib
import pathlib
import pkgutil
import re
from typing import List, Sequence

import gin

import drvf_tf
from drvf_tf import user_errors

_ROOT = pathlib.Path(drvf_tf.__file__).parents[1]
# Packages whose modules hold configurables.
_PACKAGES = ('agents', 'data', 'losses', 'networks', 'train', 'policies')


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
  gin.add_config_file_search_path(str(_ROOT))
  for file in files:
    gin.add_config_file_search_path(str(pathlib.Path(file).parent))
  try:
    gin.parse_config_files_and_bindings(files, bindings)
  except (ValueError, KeyError, ImportError, OSError, SyntaxError) as error:
    raise user_errors.UserError(_sentence(error)) from error


def register() -> None:
  """Imports every module of the project that holds configurables."""
  for name in _PACKAGES:
    package = importlib.import_module(f'drvf_tf.{name}')
    for module in pkgutil.iter_modules(package.__path__):
      if module.name != 'rollout_worker':
        importlib.import_module(f'drvf_tf.{name}.{module.name}')


def _sentence(error: Exception) -> str:
  text = ' '.join(str(error).split())
  if isinstance(error, OSError):
    missing = re.search(r'Unable to open file: (.*?)\. Searched', text)
    return (f'There is no gin file {missing.group(1) if missing else text}: '
            f'the project\'s own are in {_ROOT / "gin"}.')
  unknown = re.search(r"No configurable matching '([^']+)'", text)
  if unknown:
    return _unknown(unknown.group(1), _configurables(), 'name', text)
  parameter = re.search(
      r"Configurable '([^']+)' doesn't have a parameter named '([^']+)'", text)
  if parameter:
    return _unknown(parameter.group(2), _parameters(parameter.group(1)),
                    f'parameter of {parameter.group(1)}', text)
  return f'The gin configuration cannot be read: {text}'


def _unknown(name: str, known: List[str], what: str, text: str) -> str:
  close = difflib.get_close_matches(name.split('.')[-1], known, n=3)
  hint = (f'did you mean {" or ".join(close)}?' if close else
          f'known are {", ".join(known)}.')
  where = re.search(r'In (?:file )?(.*?line \d+)', text)
  place = f' ({where.group(1)})' if where else ''
  return f'gin knows no {what} {name!r}{place}: {hint}'


def _configurables() -> List[str]:
  registry = gin.config._REGISTRY  # pylint: disable=protected-access
  return sorted({selector.split('.')[-1] for selector in registry
                 if selector.startswith('drvf_tf')})


def _parameters(name: str) -> List[str]:
  import inspect
  wrapped = gin.get_configurable(name)
  function = wrapped.__init__ if inspect.isclass(wrapped) else wrapped
  return sorted(inspect.signature(function).parameters)
