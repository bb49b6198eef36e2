"""Member by member or stacked: a step's time, graph nodes, time to trace."""
import dataclasses
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from drvf_tf.benchmark import step_cost, timing

WIDTHS = (64, 128, 256)
MEMBERS = (3, 5, 10, 50)


class Form(NamedTuple):
  """One form at one size.

  Attributes:
    sizes: Of the step, and its form.
    nodes: Operations in the graph of a step.
    trace_seconds: CPU time to trace it.
    milliseconds: CPU time of a step, the median over rounds.
  """
  sizes: step_cost.Sizes
  nodes: int
  trace_seconds: float
  milliseconds: float


def measure(base: step_cost.Sizes, widths: Iterable[int],
            members: Iterable[int], rounds: int) -> list[Form]:
  """Both forms at every width and M, those of one size in turns.

  Args:
    base: The other sizes.
    widths: Of a hidden layer.
    members: M.
    rounds: Turns of each.

  Returns:
    Member by member, then stacked, for each size.
  """
  forms = []
  for width in widths:
    for count in members:
      pair = [dataclasses.replace(
          base, hidden=(width,) * len(base.hidden), members=count,
          stacked=stacked) for stacked in (False, True)]
      traced = [_traced(sizes) for sizes in pair]
      costs = timing.interleave([one for one, _, _ in traced], rounds)
      forms += [
          Form(sizes, nodes, seconds, 1e3 * float(np.median(
              timing.cpu_seconds(costs[one.name]))))
          for sizes, (one, nodes, seconds) in zip(pair, traced)]
  return forms


def _traced(sizes: step_cost.Sizes) -> tuple[timing.Candidate, int, float]:
  """(what to time, nodes of its graph, CPU seconds to trace it)."""
  learner, start = step_cost.agent(sizes), time.process_time()
  step = step_cost.graph(learner, sizes)
  seconds = time.process_time() - start
  nodes = len(step.get_concrete_function().graph.get_operations())
  return (step_cost.candidate(f'stacked {sizes.stacked}', step, learner, sizes),
          nodes, seconds)


def table(forms: Sequence[Form]) -> str:
  """Markdown: one line for each size, both forms side by side."""
  lines = ['| width | M | CPU ms/step, members | stacked | members ÷ stacked | '
           'nodes, members | stacked | s to trace, members | stacked |',
           '|' + '---|' * 9]
  for one, other in zip(forms[::2], forms[1::2]):
    lines.append(
        f'| {one.sizes.hidden[0]} | {one.sizes.members} | '
        f'{one.milliseconds:.1f} | {other.milliseconds:.1f} | '
        f'{one.milliseconds / other.milliseconds:.2f} | {one.nodes:,} | '
        f'{other.nodes:,} | {one.trace_seconds:.1f} | '
        f'{other.trace_seconds:.1f} |')
  return '\n'.join(lines)
