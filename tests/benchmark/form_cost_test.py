"""The two forms of the critic, side by side."""
import dataclasses

import tensorflow as tf

from drvf_tf.benchmark import form_cost, step_cost

_SIZES = step_cost.Sizes(
    members=2, samples=2, ood_actions=2, ood_states=2, batch=4, observation=3,
    action=2, hidden=(8, 8), layer_norm=True)


def _nodes(**changes):
  sizes = dataclasses.replace(_SIZES, **changes)
  step = step_cost.graph(step_cost.agent(sizes), sizes)
  return len(step.get_concrete_function().graph.get_operations())


def test_a_stacked_graph_does_not_grow_with_its_members():
  assert _nodes(stacked=True) == _nodes(stacked=True, members=6)


def test_the_compiled_step_trains(monkeypatch):
  learners = []
  make = step_cost.agent
  monkeypatch.setattr(
      step_cost, 'agent', lambda sizes: learners.append(make(sizes))
      or learners[-1])
  candidate = step_cost.drvf_xla(_SIZES)
  weights = learners[0].critic_network.variables[0]
  before = weights.numpy()
  candidate.run(3)
  assert int(learners[0].train_step_counter) == 3
  assert (weights.numpy() != before).any()


def test_operations_that_run():
  x = tf.Variable(tf.ones([2, 2]))

  def product(y):
    return tf.matmul(y, tf.constant([[1.0], [2.0]]))

  def unread():
    read = tf.convert_to_tensor(x)
    tf.exp(read)
    return product(read)

  plain, more, pruned = (
      form_cost.operations_run(tf.function(step)) for step in (
          lambda: product(x), lambda: product(tf.exp(x)), unread))
  assert 2 <= plain == more - 1 == pruned


def test_a_line_for_each_size():
  forms = [form_cost.Form(dataclasses.replace(_SIZES, stacked=stacked),
                          nodes, nodes // 2, 1.5, milliseconds)
           for stacked, nodes, milliseconds in ((False, 3_000, 6.0),
                                                (True, 1_000, 4.0))]
  assert form_cost.table(forms).splitlines()[2] == (
      '| 8 | 2 | 6.0 | 4.0 | 1.50 | 3,000 | 1,000 | 1,500 | 500 | 1.5 | 1.5 |')
