"""Checks of gin bindings before anything is built: names and plain types.

gin itself checks neither what passes through `**kwargs` nor types.
"""
import collections.abc
import difflib
import inspect
import typing
from typing import Any, Callable

import gin

from drvf_tf import errors

_WORDS = {int: 'a whole number', float: 'a number', bool: 'True or False',
          str: 'a string in quotes', type(None): 'None'}


def check_bindings() -> None:
  """Raises `UserError` for the first binding that cannot be right."""
  # pylint: disable=protected-access
  for (_, selector), bindings in gin.config._CONFIG.items():
    if not selector.startswith('drvf_tf.'):
      continue
    target = gin.config._REGISTRY[selector]
    hints = parameters(target.wrapped)
    for name, value in bindings.items():
      where = f'{target.name}.{name}'
      if name not in hints:
        raise errors.UserError(
            f'gin knows no parameter of {target.name} {name!r}: '
            + did_you_mean(name, list(hints)))
      if not _fits(value, hints[name]):
        raise errors.UserError(
            f'{where} must be {_words(hints[name])}, not {value!r}.')


def did_you_mean(name: str, known: list[str]) -> str:
  """A hint at names that are close, or at all there are."""
  close = difflib.get_close_matches(name, known, n=3)
  return (f'did you mean {" or ".join(close)}?' if close else
          f'known are {", ".join(sorted(known))}.')


def parameters(target: Callable) -> dict[str, Any]:
  """Parameters and their types; those of bases too, where passed on."""
  functions = [target]
  if inspect.isclass(target):
    functions = [base.__init__ for base in target.__mro__  # type: ignore[misc]
                 if '__init__' in vars(base)]
  found: dict[str, Any] = {}
  for function in functions:
    kinds = inspect.signature(function).parameters
    for name, parameter in kinds.items():
      if parameter.kind not in (parameter.VAR_KEYWORD,
                                parameter.VAR_POSITIONAL) and name != 'self':
        found.setdefault(name, parameter.annotation)
    if not any(p.kind == p.VAR_KEYWORD for p in kinds.values()):
      break
  return found


def _fits(value: Any, hint: Any) -> bool:
  if not isinstance(value, (bool, int, float, str, type(None), tuple, list)):
    return True  # a reference: what it gives is not known yet
  origin, arguments = typing.get_origin(hint), typing.get_args(hint)
  if origin is typing.Union:
    return any(_fits(value, argument) for argument in arguments)
  if origin in (tuple, list, collections.abc.Sequence):
    return isinstance(value, (tuple, list)) and all(
        _fits(item, arguments[0]) for item in value)
  if hint in (int, float):
    kinds = (int, float) if hint is float else (int,)
    return isinstance(value, kinds) and not isinstance(value, bool)
  if hint in (bool, str, type(None)):
    return isinstance(value, hint)
  return origin is not collections.abc.Callable


def _words(hint: Any) -> str:
  origin, arguments = typing.get_origin(hint), typing.get_args(hint)
  if origin is typing.Union:
    return ' or '.join(_words(argument) for argument in arguments)
  if origin is collections.abc.Callable:
    return 'a function or class, written @name'
  if origin in (tuple, list, collections.abc.Sequence):
    return f'a tuple, each item {_words(arguments[0])}'
  return _WORDS.get(hint, str(hint))
