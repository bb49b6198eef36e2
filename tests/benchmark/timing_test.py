"""Turns and tables, with candidates of known cost."""
import numpy as np

from drvf_tf.benchmark import timing


def _candidate(name, seconds, turns):
  """Costs `seconds` of CPU time a step, and twice that on the wall."""
  def run(count):
    turns.append((name, count))
    return timing.Cost(count * seconds, 2 * count * seconds)

  return timing.Candidate(name, run, flops=1e9, parameters=1_234)


def test_candidates_take_turns_of_about_the_same_time():
  turns = []
  candidates = [_candidate('a', 0.125, turns), _candidate('b', 1.0, turns)]
  costs = timing.interleave(candidates, rounds=2, budget=0.5)
  assert turns[:4] == [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
  assert turns[4:] == [('a', 4), ('b', 1)] * 2
  assert costs == {'a': [timing.Cost(0.125, 0.25)] * 2,
                   'b': [timing.Cost(1.0, 2.0)] * 2}


def test_ratios_are_medians_over_rounds():
  candidates = [_candidate(name, 1.0, []) for name in ('a', 'b', 'GEMM peak')]
  cost = lambda *cpus: [timing.Cost(cpu, 0.5) for cpu in cpus]  # noqa: E731
  table = timing.table(candidates, {
      'a': cost(1.0, 10.0, 2.0), 'b': cost(3.0, 20.0, 8.0),
      'GEMM peak': cost(0.1, 0.1, 0.1)})
  line = table.splitlines()[2].split()
  # CPU and wall ms, × first: the median of 3, 2 and 4.
  assert line[:4] == ['b', '8000.00', '500.00', '3.00']
  np.testing.assert_allclose(float(line[6]), 100 * 0.1 / 8, atol=0.1)
  assert line[-1] == '1,234'


def test_a_graph_is_timed():
  counts = []
  cost = timing.timed(lambda count: counts.append(int(count)))(3)
  assert counts == [3]
  assert cost.cpu >= 0 and cost.wall > 0
