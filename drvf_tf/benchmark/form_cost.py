"""Member by member or stacked: a step's time, operations, time to trace."""
import dataclasses
import time
from collections.abc import Iterable, Sequence
from typing import Callable, NamedTuple

import numpy as np
from tensorflow.python.eager import context

from drvf_tf.benchmark import step_cost, timing

WIDTHS = (64, 128, 256)
MEMBERS = (3, 5, 10, 50)
# What a graph has besides work.
_NO_WORK = ('Const', 'NoOp', 'Placeholder', '_Arg', '_Retval')


class Form(NamedTuple):
  """One form at one size.

  Attributes:
    sizes: Of the step, and its form.
    nodes: In the graph of a step as it is traced, constants included.
    operations: That TensorFlow runs, after its own simplifications.
    trace_seconds: CPU time to trace it.
    milliseconds: CPU time of a step, the median over rounds.
  """
  sizes: step_cost.Sizes
  nodes: int
  operations: int
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
      forms += _pair(pair, rounds)
  return forms


def _pair(pair: Sequence[step_cost.Sizes], rounds: int) -> list[Form]:
  traced = [_traced(sizes) for sizes in pair]
  costs = timing.interleave([one for one, *_ in traced], rounds)
  return [
      Form(sizes, nodes, operations, seconds, 1e3 * float(np.median(
          timing.cpu_seconds(costs[one.name]))))
      for sizes, (one, nodes, operations, seconds) in zip(pair, traced)]


def _traced(
    sizes: step_cost.Sizes) -> tuple[timing.Candidate, int, int, float]:
  """(what to time, nodes, operations, CPU seconds to trace it)."""
  learner, start = step_cost.agent(sizes), time.process_time()
  step = step_cost.graph(learner, sizes)
  seconds = time.process_time() - start
  nodes = len(step.get_concrete_function().graph.get_operations())
  return (step_cost.candidate(f'stacked {sizes.stacked}', step, learner, sizes),
          nodes, operations_run(step), seconds)


def operations_run(step: Callable[[], object]) -> int:
  """How many operations a graph runs in its first call, constants aside."""
  ours = context.context()
  ours.enable_run_metadata()
  try:
    step()
    graphs = ours.export_run_metadata().function_graphs
  finally:
    ours.disable_run_metadata()
  # Single operations that ran eagerly have graphs of their own: small ones.
  return max(sum(node.op not in _NO_WORK
                 for node in graph.post_optimization_graph.node)
             for graph in graphs)


def table(forms: Sequence[Form]) -> str:
  """Markdown: one line for each size, both forms side by side."""
  lines = ['| width | M | CPU ms/step, members | stacked | members ÷ stacked | '
           'nodes, members | stacked | operations, members | stacked | '
           's to trace, members | stacked |', '|' + '---|' * 11]
  for one, other in zip(forms[::2], forms[1::2]):
    lines.append(
        f'| {one.sizes.hidden[0]} | {one.sizes.members} | '
        f'{one.milliseconds:.1f} | {other.milliseconds:.1f} | '
        f'{one.milliseconds / other.milliseconds:.2f} | {one.nodes:,} | '
        f'{other.nodes:,} | {one.operations:,} | {other.operations:,} | '
        f'{one.trace_seconds:.1f} | {other.trace_seconds:.1f} |')
  return '\n'.join(lines)
