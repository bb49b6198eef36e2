"""What a run cost, as far as its folder tells: time, parameters, machine."""
import dataclasses
import math
import pathlib
from typing import Any, Mapping, Optional


@dataclasses.dataclass(frozen=True)
class Cost:
  """The cost of one run; NaN or None for what is not known.

  Attributes:
    steps_per_second: By the clock.
    cpu_ms_per_step: Of the training process, all of its threads.
    parameters: Weights of all networks, targets included.
    machine: In a few words.
  """
  steps_per_second: float
  cpu_ms_per_step: float
  parameters: Optional[int]
  machine: str


def read(folder: pathlib.Path, facts: Mapping[str, Any], num_steps: int,
         minutes: float) -> Cost:
  """The cost of a finished run.

  Args:
    folder: Of the run.
    facts: Of its run.json.
    num_steps: Train steps.
    minutes: From start to end, NaN if it was stopped in between: all that
      older folders tell of their time.

  Returns:
    The cost.
  """
  cost = facts.get('cost') or {}
  steps = cost.get('steps') or math.nan
  whole = num_steps / (60 * minutes) if minutes > 0 else math.nan
  return Cost(
      steps / cost['seconds'] if cost.get('seconds') else whole,
      1e3 * cost.get('cpu_seconds', math.nan) / steps,
      cost.get('parameters') or _saved_parameters(folder),
      _machine(facts.get('machine') or {}, cost.get('gpus') or []))


def _machine(facts: Mapping[str, Any], gpus: Any) -> str:
  parts = [facts.get('processor') or facts.get('cpu') or 'unknown machine']
  parts += [f'{facts["cores"]} cores'] if facts.get('cores') else []
  return ', '.join([*parts, *map(str, gpus)])


def _saved_parameters(folder: pathlib.Path) -> Optional[int]:
  """Counted in a checkpoint: all but single numbers and the optimizers."""
  saved = sorted(folder.glob('checkpoints/step_*/ckpt.index'))
  if not saved:
    return None
  import tensorflow as tf  # where older folders are read, and there alone
  try:
    shapes = tf.train.load_checkpoint(
        str(saved[-1].with_suffix(''))).get_variable_to_shape_map()
  except (tf.errors.OpError, RuntimeError, ValueError):
    return None
  return sum(math.prod(shape) for name, shape in shapes.items()
             if shape and 'optimizer' not in name.lower())
