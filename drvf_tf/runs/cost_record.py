"""What a run cost, as far as its folder tells: time, parameters, machine."""
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Cost:
  """The cost of one run; NaN for what no process of it lived to note.

  Attributes:
    minutes: By the clock, the sum over the starts of the run.
    steps_per_second: By the clock.
    cpu_ms_per_step: Of the training process, all of its threads.
    parameters: Weights of all networks, targets included.
    machine: In a few words.
  """
  minutes: float
  steps_per_second: float
  cpu_ms_per_step: float
  parameters: int
  machine: str


def read(facts: Mapping[str, Any]) -> Cost:
  """The cost of a finished run, from its run.json."""
  cost = facts['cost']
  return Cost(
      _minutes(facts['starts']),
      _ratio(cost['steps'], cost['seconds']),
      1e3 * _ratio(cost['cpu_seconds'], cost['steps']),
      cost['parameters'], _machine(facts['machine'], cost['gpus']))


def add(known: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
  """The cost of a run and that of one more of its processes.

  Args:
    known: Of run.json; empty at first.
    part: Of the process; see `cost.Meter`.

  Returns:
    The sum, with the newest of what is no sum.
  """
  return {**part, **{name: round(known.get(name, 0) + part[name], 3)
                     for name in ('steps', 'seconds', 'cpu_seconds')}}


def _minutes(starts: Sequence[Mapping[str, Any]]) -> float:
  noted = [start['seconds'] for start in starts if 'seconds' in start]
  return sum(noted) / 60 if noted else math.nan


def _ratio(dividend: float, divisor: float) -> float:
  return dividend / divisor if dividend and divisor else math.nan


def _machine(facts: Mapping[str, Any], gpus: Sequence[str]) -> str:
  # A system need not tell the name of its processor.
  return ', '.join([facts['processor'] or facts['cpu'],
                    f'{facts["cores"]} cores', *gpus])
