"""Our EDAC beside the same EDAC in PyTorch, `benchmarks/torch_edac.py`."""
import contextlib
import pathlib
import tempfile
from typing import Any, cast

import tensorflow as tf
from tf_agents.trajectories import trajectory

from drvf_tf import errors
from drvf_tf.agents import ensemble_sac_agent
from drvf_tf.benchmark import peers, timing
from drvf_tf.losses import edac
from drvf_tf.networks import noise


def is_edac(agent: Any) -> bool:
  """Whether the diversity of gradients is all that an agent adds to SAC-N."""
  return (type(agent) is ensemble_sac_agent.EnsembleSacAgent
          and [type(part) for part in agent._regularizers]
          == [edac.GradientDiversity])


def candidate(ours: timing.Candidate,
              agent: ensemble_sac_agent.EnsembleSacAgent,
              experience: trajectory.Transition, python: str, threads: int,
              stack: contextlib.ExitStack) -> timing.Candidate:
  """What `timing.interleave` times beside ours.

  Args:
    ours: Its operations and parameters count for both: the step is the same.
    agent: Before its first step.
    experience: A batch.
    python: Interpreter that has PyTorch.
    threads: Of the peer.
    stack: The peer runs until it is closed.

  Returns:
    The same step in PyTorch.
  """
  folder = stack.enter_context(tempfile.TemporaryDirectory())
  setup = pathlib.Path(folder) / 'setup.npz'
  save_setup(setup, agent, experience)
  peer = stack.enter_context(peers.Peer(peers.EDAC, setup, python, threads))
  return timing.Candidate(
      f'{ours.name}, PyTorch', peer.run, ours.flops, ours.parameters)


def save_setup(path: pathlib.Path, agent: ensemble_sac_agent.EnsembleSacAgent,
               experience: trajectory.Transition, steps: int = 1) -> None:
  """Writes what the peer starts from: the agent as it is, and its noise.

  Args:
    path: Of the npz file.
    agent: An EDAC agent before its first step.
    experience: A batch.
    steps: How many steps to draw the noise of.

  Raises:
    UserError: The agent has what the peer has not.
  """
  _check(agent)
  optimizer = agent._critic_optimizer
  diversity = cast(edac.GradientDiversity, agent._regularizers[0])
  hyper = {'gamma': agent.gamma, 'tau': agent._target_update_tau,
           'eta': diversity.eta,
           'learning_rate': float(optimizer.learning_rate),
           'epsilon': optimizer.epsilon,
           'target_entropy': agent._target_entropy}
  peers.write_setup(
      path, agent, experience, hyper,
      [_noise(agent, experience, step) for step in range(steps)])


def _check(agent: ensemble_sac_agent.EnsembleSacAgent) -> None:
  """Overlays may ask for what the peer would leave out without a word."""
  rates = [optimizer.learning_rate for optimizer in (
      agent._critic_optimizer, agent._actor_optimizer, agent._alpha_optimizer)]
  fixed = all(isinstance(rate, tf.Variable) for rate in rates)
  found = {
      'normalised layers or a posterior': not all(
          name.split('/')[1].startswith(('kernel', 'bias', 'log_alpha'))
          for name in peers.parameters(agent)),
      'rates that change or differ':
          not fixed or len({float(rate) for rate in rates}) > 1,
      'clipped gradients': agent._gradient_clipping is not None,
      'an averaged actor': agent._acting_tau < 1.0,
      'a target that waits': agent._target_update_period > 1,
  }
  asked = [what for what, is_there in found.items() if is_there]
  if asked:
    raise errors.UserError(
        f'The peer {peers.EDAC} has EDAC as it was published, without '
        f'{", ".join(asked)}: leave that out of --gin_file and --gin_param, or '
        'the peer out of --peers.')


def _noise(agent: ensemble_sac_agent.EnsembleSacAgent,
           experience: trajectory.Transition, step: int) -> peers.Arrays:
  """What the agent draws in a step, in its order."""
  draws = noise.Draws.at_step(agent._seed, tf.constant(step, tf.int64))
  shape = experience.action_step.action.shape
  arrays = {'next_action': draws.normal(shape).numpy()}
  for _ in ('target', 'critic'):
    draws.seed()  # of heads that have nothing to draw
  arrays['chosen'] = edac.drawn_members(
      agent.critic_network.num_members, shape[-1], draws.seed()).numpy()
  arrays['action'] = draws.normal(shape).numpy()
  return arrays
