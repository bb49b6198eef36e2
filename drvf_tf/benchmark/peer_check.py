"""Do the peers compute what we compute? A few steps from the same start."""
import dataclasses
import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from tf_agents.trajectories import trajectory

from drvf_tf.agents import ensemble_sac_agent
from drvf_tf.benchmark import edac_peer, method_cost, peers, step_cost
from drvf_tf.train import methods

SIZES = step_cost.Sizes(
    members=3, samples=4, ood_actions=3, ood_states=8, batch=16, observation=5,
    action=2, hidden=(32, 32))
# More members than dim A: some are drawn for the diversity term.
EDAC_SIZES = dataclasses.replace(SIZES, members=5)
# Frameworks add Adam's ε before or after the correction of the bias; so small
# a one makes no difference, and still keeps 0/0 out.
EPSILON = 1e-20


class Difference(NamedTuple):
  """The largest over all steps and arrays.

  Attributes:
    losses: Relative.
    gradients: Of Adam's first moments, relative to the largest of an array.
    parameters: Absolute; a step moves a parameter by up to 3e-4.
  """
  losses: float
  gradients: float
  parameters: float


# Float32 keeps seven digits. Where a gradient all but cancels, Adam divides
# what is left of them by its own size: hence the parameters' tolerance, which
# is still a thirtieth of a step.
TOLERANCE = Difference(losses=1e-5, gradients=1e-5, parameters=1e-5)


def prepare(setup: pathlib.Path, sizes: step_cost.Sizes,
            steps: int = 3) -> peers.Arrays:
  """Our own steps from weights without symmetry.

  Args:
    setup: File to write for the peers.
    sizes: Of the step.
    steps: How many.

  Returns:
    Losses, parameters and Adam's first moments after the steps.
  """
  agent = step_cost.agent(sizes)
  _unsettle(agent)
  peers.save_setup(setup, agent, sizes, steps, EPSILON)
  return _train(agent, step_cost.batch(sizes), steps)


def prepare_edac(setup: pathlib.Path, sizes: step_cost.Sizes,
                 steps: int = 3) -> peers.Arrays:
  """`prepare` of EDAC, as its gin files have it but for the sizes."""
  agent = methods.agent_of(
      method_cost.ROWS['edac_50'].files,
      [f'EnsembleCriticNetwork.num_members={sizes.members}',
       f'EnsembleCriticNetwork.hidden_units={sizes.hidden}',
       f'tanh_gaussian_actor.hidden_units={sizes.hidden}'],
      sizes.observation, sizes.action)
  _unsettle(agent)
  experience = step_cost.batch(sizes)
  edac_peer.save_setup(setup, agent, experience, steps)
  return _train(agent, experience, steps)


def _unsettle(agent: ensemble_sac_agent.EnsembleSacAgent) -> None:
  """Weights without symmetry, and Adam's `EPSILON`."""
  rng = np.random.default_rng(0)
  for variable in [*agent.critic_network.trainable_variables,
                   *agent.target_critic_network.trainable_variables,
                   *agent.actor_network.variables, agent._log_alpha]:
    variable.assign_add(rng.normal(scale=0.1, size=variable.shape))
  for optimizer in (agent._critic_optimizer, agent._actor_optimizer,
                    agent._alpha_optimizer):
    optimizer.epsilon = EPSILON


def _train(agent: ensemble_sac_agent.EnsembleSacAgent,
           experience: trajectory.Transition, steps: int) -> peers.Arrays:
  step = tf.function(agent.train)
  infos = [step(experience).extra for _ in range(steps)]
  arrays = {'losses/all': np.array([
      [info[f'{name}_loss'] for name in ('critic', 'actor', 'alpha')]
      for info in infos]), **peers.parameters(agent)}
  for name, network, optimizer in (
      ('critic', agent.critic_network, agent._critic_optimizer),
      ('actor', agent.actor_network, agent._actor_optimizer)):
    variables = network.trainable_variables
    arrays.update(peers.named(
        f'{name}_moment', variables,
        [optimizer.get_slot(v, 'm') for v in variables]))
  return arrays


def compare(ours: peers.Arrays, theirs: peers.Arrays) -> Difference:
  """How far two results are apart; both must hold the same arrays."""
  if set(ours) != set(theirs):
    raise ValueError(f'Arrays differ: {sorted(set(ours) ^ set(theirs))}.')
  gaps = {name: np.abs(ours[name] - theirs[name]) for name in ours}
  return Difference(
      float(np.max(gaps['losses/all'] / np.abs(ours['losses/all']))),
      max(float(np.max(gap) / np.max(np.abs(ours[name])))
          for name, gap in gaps.items() if '_moment/' in name),
      max(float(np.max(gap)) for name, gap in gaps.items()
          if '_moment/' not in name and name != 'losses/all'))


def agrees(difference: Difference) -> bool:
  """Whether every difference is within its tolerance; NaN never is."""
  return all(d <= t for d, t in zip(difference, TOLERANCE))


def check(names: Sequence[str], python: str, folder: pathlib.Path,
          layer_norm: bool) -> dict[str, Difference]:
  """How far each peer's steps are from ours.

  Args:
    names: Of `peers.NAMES`.
    python: Interpreter that has the frameworks.
    folder: For scratch files.
    layer_norm: Whether the critics' layers are normalised.

  Returns:
    Differences by name.
  """
  setup = folder / 'setup.npz'
  ours = prepare(setup, dataclasses.replace(SIZES, layer_norm=layer_norm))
  differences = {}
  for name in names:
    with peers.Peer(name, setup, python) as peer:
      differences[name] = compare(ours, peer.check(folder / f'{name}.npz'))
  return differences


def check_edac(python: str, folder: pathlib.Path,
               sizes: step_cost.Sizes = EDAC_SIZES) -> dict[str, Difference]:
  """How far the steps of the EDAC in PyTorch are from ours.

  Args:
    python: Interpreter that has PyTorch.
    folder: For scratch files.
    sizes: Of the step.

  Returns:
    The difference, by the peer's name.
  """
  setup = folder / 'edac_setup.npz'
  ours = prepare_edac(setup, sizes)
  with peers.Peer(peers.EDAC, setup, python) as peer:
    return {peers.EDAC: compare(ours, peer.check(folder / 'edac.npz'))}


def table(differences: dict[str, Difference]) -> str:
  """One line per peer, and the tolerances."""
  lines = [f'{"largest difference":22}'
           f'{"losses, relative":>20}{"gradients, relative":>22}'
           f'{"parameters, absolute":>23}']
  for name, difference in {**differences, 'tolerance': TOLERANCE}.items():
    lines.append(f'{name:22}{difference.losses:20.1e}'
                 f'{difference.gradients:22.1e}{difference.parameters:23.1e}')
  return '\n'.join(lines)
