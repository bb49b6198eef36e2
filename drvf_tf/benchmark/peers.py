"""The same train step in other frameworks, each in a process of its own.

PyTorch and JAX cannot share an environment with TensorFlow 2.15, so a peer is
a child (`benchmarks/peer.py`, where the protocol is described) that gets
weights, batch and noise in one npz file, runs when asked, and times itself.
"""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tf_agents.trajectories import trajectory

from drvf_tf import errors, project_files
from drvf_tf.agents import drvf_agent, ensemble_sac_agent
from drvf_tf.benchmark import step_cost, timing
from drvf_tf.networks import heads, noise

NAMES = ('torch_members', 'torch_baddbmm', 'jax_members', 'jax_vmap')
EDAC = 'torch_edac'  # has a method's step, not DRVF's; see `edac_peer`
_FOLDER = project_files.ROOT / 'benchmarks'
PYTHON = _FOLDER / '.venv' / 'bin' / 'python'  # of `make peers`
_SCRIPT = _FOLDER / 'peer.py'

Arrays = dict[str, np.ndarray]  # by 'group/name'


class Peer:
  """A running child; use it in a `with`."""

  def __init__(self, name: str, setup: pathlib.Path, python: str,
               threads: int = 1):
    """Starts the child, which inherits the cores this process is pinned to.

    Args:
      name: Of `NAMES`, or `EDAC`.
      setup: File of `write_setup`.
      python: Interpreter that has the frameworks.
      threads: Of the child.
    """
    if not os.path.exists(python):
      raise errors.UserError(
          'Peers run in an environment of their own, and there is no '
          f'{python}: run `make peers` in a checkout, or name another with '
          '--peer_python.')
    self.name = name
    self._process = subprocess.Popen(
        [python, str(_SCRIPT), name, str(setup)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, 'OMP_NUM_THREADS': str(threads)})

  def __enter__(self) -> 'Peer':
    return self

  def __exit__(self, *unused: Any) -> None:
    self._process.communicate()  # the end of its input is its end

  def _ask(self, request: str) -> dict[str, float]:
    try:
      print(request, file=self._process.stdin, flush=True)
      answer = self._process.stdout.readline()  # type: ignore[union-attr]
    except BrokenPipeError:
      answer = ''
    if not answer:
      raise errors.UserError(
          f'The peer {self.name} ended with exit code {self._process.wait()} '
          'before it answered; its last words are above. `make peers` '
          'installs what it needs.')
    return json.loads(answer)

  def run(self, count: int) -> timing.Cost:
    """Runs that many steps."""
    return timing.Cost(**self._ask(f'run {count}'))

  def check(self, after: pathlib.Path) -> Arrays:
    """Runs the steps whose noise is in the setup.

    Args:
      after: Scratch file for what the child hands back.

    Returns:
      Losses, parameters and Adam's first moments after the steps.
    """
    self._ask(f'check {after}')
    with np.load(after, allow_pickle=False) as file:
      return dict(file)


def candidates(names: Sequence[str], sizes: step_cost.Sizes, python: str,
               threads: int,
               stack: contextlib.ExitStack) -> list[timing.Candidate]:
  """What `timing.interleave` times.

  Args:
    names: Of `NAMES`.
    sizes: Of the step.
    python: Interpreter that has the frameworks.
    threads: Of each peer.
    stack: The peers run until it is closed.

  Returns:
    One for each name.
  """
  agent = step_cost.agent(sizes)
  folder = stack.enter_context(tempfile.TemporaryDirectory())
  setup = pathlib.Path(folder) / 'setup.npz'
  save_setup(setup, agent, sizes)
  started = [stack.enter_context(Peer(name, setup, python, threads))
             for name in names]
  return [timing.Candidate(
      peer.name, peer.run, step_cost.drvf_flops(sizes),
      step_cost.count(step_cost.networks(agent))) for peer in started]


def check_names(names: Sequence[str]) -> None:
  """Raises unless there are such peers."""
  for name in names:
    if name not in (*NAMES, EDAC):
      raise errors.UserError(
          f'There is no peer {name!r}: there are {", ".join(NAMES)}, {EDAC}.')


def check_belong(names: Sequence[str], to_methods: bool) -> None:
  """Raises unless the peers compute what is timed.

  Args:
    names: Of `NAMES`, or `EDAC`.
    to_methods: Whether whole methods are timed, not the DRVF step alone.
  """
  if to_methods:
    for name in names:
      if name != EDAC:
        raise errors.UserError(
            f'The peer {name} has the DRVF step alone, which is timed without '
            f'--methods: leave --methods out, or name the peer {EDAC}.')
  elif EDAC in names:
    raise errors.UserError(
        f"The peer {EDAC} has EDAC's step, not DRVF's: name a method that it "
        'stands beside, such as --methods=edac_50.')


def save_setup(path: pathlib.Path, agent: drvf_agent.DRVFAgent,
               sizes: step_cost.Sizes, steps: int = 1,
               epsilon: float = 1e-7) -> None:
  """Writes what a peer starts from: the agent as it is, and its noise.

  Args:
    path: Of the npz file.
    agent: From `step_cost.agent`, before its first step.
    sizes: Of the agent.
    steps: How many steps to draw the noise of.
    epsilon: Of Adam.
  """
  # Of `step_cost.agent`, else defaults of `DRVFAgent` and `build_agent`: the
  # comparison of results fails if they are not.
  hyper = {'gamma': 0.99, 'tau': 0.005, 'eta_q': step_cost.ETA_Q,
           'eta_ood': step_cost.ETA_OOD, 'kl_scale': 1e-3,
           'learning_rate': 3e-4, 'epsilon': epsilon,
           'target_entropy': -float(sizes.action)}
  write_setup(path, agent, step_cost.batch(sizes), hyper,
              [_noise(sizes, step) for step in range(steps)])


def write_setup(path: pathlib.Path, agent: ensemble_sac_agent.EnsembleSacAgent,
                experience: trajectory.Transition, hyper: dict[str, float],
                noises: Sequence[Arrays]) -> None:
  """Writes the file that `benchmarks/peer.py` reads.

  Args:
    path: Of the npz file.
    agent: Whose parameters they start from.
    experience: The batch of all steps.
    hyper: Hyper-parameters by name.
    noises: What is drawn, for each step by name.
  """
  observation, action, following = experience
  batch = {
      'observation': observation.observation,
      'action': action.action,
      'reward': following.reward,
      'discount': following.discount,
      'next_observation': following.observation,
  }
  arrays = {**parameters(agent),
            **{f'batch/{name}': values for name, values in batch.items()},
            **{f'hyper/{name}': np.array(v) for name, v in hyper.items()}}
  for step, drawn in enumerate(noises):
    arrays.update({f'noise_{step}/{name}': values
                   for name, values in drawn.items()})
  np.savez(path, **arrays)


def parameters(agent: ensemble_sac_agent.EnsembleSacAgent) -> Arrays:
  """All parameters under the peers' names."""
  return {
      **named('critic', agent.critic_network.trainable_variables),
      **named('target', agent.target_critic_network.trainable_variables),
      **named('actor', agent.actor_network.variables),
      'alpha/log_alpha': agent._log_alpha.numpy(),
  }


def named(group: str, variables: Sequence[tf.Variable],
          values: Sequence[tf.Tensor] = ()) -> Arrays:
  """Arrays by the last part of the variables' names, counted: kernel_0, ….

  Args:
    group: Prefix of the names.
    variables: Of a network.
    values: What to give for each; the variables' own values by default.

  Returns:
    `group/kernel_i`, `bias_i`, `scale_i`, `offset_i` of layer i;
    `group/loc_i`, `rho_i` of a Bayesian head's weights (0) and biases (1).
  """
  arrays: Arrays = {}
  counts: dict[str, int] = {}
  for variable, value in zip(variables, values or variables):
    kind = variable.name.split('/')[-1].split(':')[0].split('_')[-1]
    # A head has its biases in the last row.
    parts = (np.split(value.numpy(), [-1], axis=1) if kind in ('loc', 'rho')
             else [value.numpy()])
    for part in parts:
      counts[kind] = counts.get(kind, -1) + 1
      arrays[f'{group}/{kind}_{counts[kind]}'] = part
  return arrays


def _noise(sizes: step_cost.Sizes, step: int) -> Arrays:
  """What `DRVFAgent` draws in a step, in its order."""
  draws = noise.Draws.at_step(0, tf.constant(step, tf.int64))
  rows = [sizes.batch, sizes.action]
  arrays = {'next_action': draws.normal(rows).numpy()}
  arrays.update(_head_noise('target', sizes, sizes.samples, draws))
  arrays['ood_action'] = draws.normal(
      [sizes.ood_actions, sizes.ood_states, sizes.action]).numpy()
  # The data's draws and, after them, the OOD actions'.
  arrays.update(_head_noise('critic', sizes, 2 * sizes.samples, draws))
  arrays['action'] = draws.normal(rows).numpy()
  arrays.update(_head_noise('actor', sizes, sizes.samples, draws))
  return arrays


def _head_noise(name: str, sizes: step_cost.Sizes, samples: int,
                draws: noise.Draws) -> Arrays:
  """ε of a head's weights `[M, d, n]` and of its biases `[M, 1, n]`.

  A head whose posterior is N(0, I) draws ε itself: at ψ = 0 its samples are
  the bias, at the unit vectors they are the weights plus the bias.
  """
  standard = heads.BayesianHead(
      sizes.members, initial_std=1.0, mean_range=0.0)
  width = sizes.hidden[-1]
  probes = tf.concat([tf.zeros([1, width]), tf.eye(width)], axis=0)
  sampled = standard.sample(
      [probes] * sizes.members, samples, draws.seed()).numpy()
  bias = sampled[:, :1]
  return {f'{name}_0': sampled[:, 1:] - bias, f'{name}_1': bias}
