"""The paper's cost table, on this machine: time, operations, parameters."""
import contextlib
import io
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import gin
import numpy as np
import tensorflow as tf
from absl import logging
from tf_agents.trajectories import trajectory

from drvf_tf import errors
from drvf_tf.benchmark import edac_peer, model_cost, peers, step_cost, timing
from drvf_tf.runs import gin_files
from drvf_tf.train import methods


class Row(NamedTuple):
  """A method at the size the paper uses it in.

  Attributes:
    label: What the table calls it.
    files: gin files.
    bindings: gin bindings on top.
    sizes: (observation, action).
    paper_seconds: Of 1,000 steps on the paper's Tesla P40, where it says.
  """
  label: str
  files: tuple[str, ...]
  bindings: tuple[str, ...]
  sizes: tuple[int, int]
  paper_seconds: Optional[float] = None


def _row(label: str, task: str, overlay: str, members: int,
         paper_seconds: Optional[float] = None) -> Row:
  files = (f'gin/{task}_medium.gin', 'gin/paper.gin',
           *([f'gin/baselines/{overlay}.gin'] if overlay else []))
  return Row(f'{label} {members}, {task}', files,
             (f'EnsembleCriticNetwork.num_members={members}',),
             (11, 3) if task == 'hopper' else (17, 6), paper_seconds)


# Table "computation" of the paper, and what it does not have, by the names that
# `--methods` takes.
ROWS: dict[str, Row] = {
    'pbrl_10': _row('PBRL', 'halfcheetah', 'pbrl', 10, 147.3),
    'sac_n_10': _row('SAC-N', 'halfcheetah', 'sac_n', 10, 19.4),
    'sac_n_20': _row('SAC-N', 'walker2d', 'sac_n', 20, 17.5),
    'sac_n_500': _row('SAC-N', 'hopper', 'sac_n', 500, 117.1),
    'edac_10': _row('EDAC', 'halfcheetah', 'edac', 10, 24.9),
    'edac_50': _row('EDAC', 'hopper', 'edac', 50, 25.5),
    'drvf_3': _row('DRVF', 'halfcheetah', '', 3, 33.4),
    'drvf_5': _row('DRVF', 'walker2d', '', 5, 33.8),
    'mopo': _row('MOPO', 'halfcheetah', 'mopo', 2),
    'combo': _row('COMBO', 'halfcheetah', 'combo', 2),
    'drvf_model': _row('DRVF + model', 'halfcheetah', 'drvf_model', 3),
}


def row_of(name: str) -> Row:
  """A line of the table, or any other method on halfcheetah-medium.

  Args:
    name: Of `ROWS`, or of a file in gin/baselines.

  Raises:
    UserError: There is neither.
  """
  if name in ROWS:
    return ROWS[name]
  if name not in gin_files.methods():
    raise errors.UserError(
        f'There is no method {name!r}: the cost table has {", ".join(ROWS)}, '
        f'and gin/baselines {", ".join(gin_files.methods()[1:])}.')
  task = 'gin/halfcheetah_medium.gin'
  overlay = gin_files.of_method(name, task)
  return Row(name, (task, *([overlay] if overlay else [])), (), (17, 6))


def candidate(row: Row, files: Sequence[str] = (),
              bindings: Sequence[str] = ()) -> timing.Candidate:
  """What `timing.interleave` times: the whole train step of a method."""
  return _candidate(row.label, *_built(row, files, bindings))


def _built(row: Row, files: Sequence[str], bindings: Sequence[str]
           ) -> tuple[Any, trajectory.Transition]:
  """The agent, before its first step, and its batch."""
  observation, action = row.sizes
  agent = methods.agent_of([*row.files, *files], [*row.bindings, *bindings],
                           observation, action)
  return agent, step_cost.batch(step_cost.Sizes(
      batch=gin.get_bindings('train_eval')['batch_size'],
      observation=observation, action=action))


def _candidate(label: str, agent: Any,
               experience: trajectory.Transition) -> timing.Candidate:
  one = tf.function(agent.train, autograph=False)

  @tf.function
  def step(count):
    for _ in tf.range(count):
      one(experience)

  return timing.Candidate(
      label, timing.timed(step),
      operations(one.get_concrete_function(experience)),
      methods.parameters(agent))


def operations(function: Any) -> float:
  """Floating-point operations of a graph, as TensorFlow's profiler counts."""
  options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
  options['output'] = 'none'
  verbosity = logging.get_verbosity()
  logging.set_verbosity(logging.ERROR)  # that this API is an old one
  try:
    with contextlib.redirect_stdout(io.StringIO()):
      profile = tf.compat.v1.profiler.profile(function.graph, options=options)
  finally:
    logging.set_verbosity(verbosity)
  return float(profile.total_float_ops)


def run(names: Sequence[str], rounds: int, files: Sequence[str] = (),
        bindings: Sequence[str] = (), peer_python: Optional[str] = None,
        threads: int = 1) -> str:
  """Times the methods side by side.

  Args:
    names: Of `ROWS`, or of files in gin/baselines.
    rounds: Turns of each.
    files: gin files over each method's own; then the sizes are no longer the
      paper's, and its seconds are left out.
    bindings: gin bindings over them.
    peer_python: Interpreter that has PyTorch, to time EDAC there beside ours;
      None to leave it out.
    threads: Of each peer.

  Returns:
    The table.

  Raises:
    UserError: A peer is asked for, and no method is EDAC.
  """
  rows = [row_of(name) for name in names]
  models = {}
  with contextlib.ExitStack() as stack:
    candidates = []
    for row in rows:
      agent, experience = _built(row, files, bindings)
      candidates.append(_candidate(row.label, agent, experience))
      if peer_python and edac_peer.is_edac(agent):
        candidates.append(edac_peer.candidate(
            candidates[-1], agent, experience, peer_python, threads, stack))
      found = model_cost.measure([*row.files, *files],
                                 [*row.bindings, *bindings], row.sizes)
      if found is not None:
        models[row.label] = found
    if peer_python and len(candidates) == len(rows):
      raise errors.UserError(
          f'The peer {peers.EDAC} stands beside EDAC, and --methods='
          f'{",".join(names)} has none: add edac_10 or edac_50.')
    costs = timing.interleave(candidates, rounds)
  published = {} if files or bindings else {
      row.label: row.paper_seconds for row in rows
      if row.paper_seconds is not None}
  return '\n'.join([
      table(candidates, costs, published),
      *(f'{label}: {model_cost.sentence(found, _seconds(costs[label]))}'
        for label, found in models.items())])


def _seconds(costs: Sequence[timing.Cost]) -> float:
  return float(np.median(timing.cpu_seconds(costs)))


def table(candidates: Sequence[timing.Candidate], costs: timing.Costs,
          published: dict[str, float]) -> str:
  """One line per method.

  Args:
    candidates: What was timed.
    costs: What `timing.interleave` found.
    published: The paper's seconds, of another machine, by name; none to leave
      that column out.

  Returns:
    The table.
  """
  width = max([24, *(len(c.name) + 1 for c in candidates)])
  lines = [f'{"":{width}}{"CPU ms/step":>12}{"GFLOP/step":>12}'
           f'{"parameters":>13}'
           + ('   paper: GPU s per 1,000 steps' if published else '')]
  for c in candidates:
    lines.append(
        f'{c.name:{width}}{1e3 * _seconds(costs[c.name]):12.1f}'
        f'{c.flops / 1e9:12.2f}{c.parameters:13,}'
        + (f'{published[c.name]:31.1f}' if c.name in published else ''))
  return '\n'.join(lines)
