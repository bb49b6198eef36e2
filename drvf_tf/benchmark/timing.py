"""Timing side by side: candidates in turns, and the table of what they cost.

Each candidate measures its own seconds, in this process or in a child. A slow
moment of the machine meets all of them, because they take turns of a few steps
each, with a matrix product among them as the peak of that very moment.
"""
import dataclasses
import time
from collections.abc import Sequence
from typing import Callable, NamedTuple

import numpy as np
import tensorflow as tf


class Cost(NamedTuple):
  """Seconds of CPU time, over all threads, and of the clock on the wall."""
  cpu: float
  wall: float

  def each(self, count: int) -> 'Cost':
    """Of one of `count` steps."""
    return Cost(self.cpu / count, self.wall / count)


Costs = dict[str, list[Cost]]  # of a step, by candidate: one for each round


@dataclasses.dataclass
class Candidate:
  """One thing to time: `run(k)` runs k train steps and says what they cost."""
  name: str
  run: Callable[[int], Cost]
  flops: float
  parameters: int


def timed(step: Callable[[tf.Tensor], object]) -> Callable[[int], Cost]:
  """Makes `run` of a graph that runs k steps in one call."""

  def run(count: int) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    step(tf.constant(count))
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)

  return run


def interleave(candidates: Sequence[Candidate], rounds: int = 7,
               budget: float = 0.5) -> Costs:
  """What a step of every candidate costs.

  Args:
    candidates: What to time.
    rounds: How often each has its turn.
    budget: CPU seconds of a turn, roughly.

  Returns:
    Costs by candidate name, one for each round.
  """
  counts = {}
  for candidate in candidates:
    candidate.run(1)  # traces or compiles
    each = candidate.run(2).each(2).cpu
    counts[candidate.name] = max(1, int(budget / each))
  costs: Costs = {candidate.name: [] for candidate in candidates}
  for _ in range(rounds):
    for candidate in candidates:
      count = counts[candidate.name]
      costs[candidate.name].append(candidate.run(count).each(count))
  return costs


def cpu_seconds(costs: Sequence[Cost]) -> np.ndarray:
  """CPU seconds of a step, `[rounds]`."""
  return np.array([cost.cpu for cost in costs])


def table(candidates: Sequence[Candidate], costs: Costs) -> str:
  """One line per candidate; ratios are medians over rounds, of CPU time."""
  peak = next(c for c in candidates if c.name == 'GEMM peak')
  peak_rates = peak.flops / cpu_seconds(costs[peak.name])
  first = cpu_seconds(costs[candidates[0].name])
  lines = [f'{"":22}{"CPU ms/step":>12}{"wall ms/step":>14}{"× first":>9}'
           f'{"GFLOP/step":>12}{"GFLOP/s":>9}{"% of peak":>11}'
           f'{"parameters":>13}']
  for c in candidates:
    times = cpu_seconds(costs[c.name])
    wall = np.median([cost.wall for cost in costs[c.name]])
    rates = c.flops / times
    lines.append(
        f'{c.name:22}{1e3 * np.median(times):12.2f}{1e3 * wall:14.2f}'
        f'{np.median(times / first):9.2f}{c.flops / 1e9:12.3f}'
        f'{np.median(rates) / 1e9:9.1f}'
        f'{100 * np.median(rates / peak_rates):11.1f}{c.parameters:13,}')
  return '\n'.join(lines)
