"""The intuition of Fig. 2 in one dimension: what repulsion gives few members.

A bandit with a single state: every transition is terminal, so that its target
(14) is its reward, and the critic regresses Q(a) on data in two clusters. The
agents, heads and terms are those of training; nothing is written for the
picture but the data.
"""
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts

from drvf_tf.agents import build, drvf_agent, ensemble_sac_agent
from drvf_tf.losses import ood_actions
from drvf_tf.networks import actor_network, ensemble_critic_network, heads

LIMIT = 2.7  # actions are in [−LIMIT, LIMIT]
CLUSTERS = ((-2.1, -1.3), (1.1, 1.9))
NOISE = 0.05
LEARNING_RATE = 3e-3
OFF_DATA = 0.3  # an action this far from all data is off the data


@dataclasses.dataclass(frozen=True)
class Case:
  """One ensemble to train.

  Attributes:
    name: For the picture and the table.
    num_members: M.
    head: Constructor of the critic's head.
    agent: Constructor of the agent.
    draws: n, functions to show of each member.
    shown: Whether the picture has a panel of it.
  """
  name: str
  num_members: int
  head: Callable[..., tf.keras.layers.Layer]
  agent: Callable[..., ensemble_sac_agent.EnsembleSacAgent]
  draws: int = 1
  shown: bool = True


class Data(NamedTuple):
  """Actions `[N]` and rewards `[N]`."""
  actions: np.ndarray
  rewards: np.ndarray


class Fit(NamedTuple):
  """What an ensemble says of Q on a grid of G actions.

  Attributes:
    case: What was trained.
    grid: `[G]`.
    functions: Members' functions, or draws of them, `[M, draws, G]`.
    mean: Closed form, `[G]`.
    std: Closed form, `[G]`.
    numbers: std on and off the data, and how often the truth is in the band.
  """
  case: Case
  grid: np.ndarray
  functions: np.ndarray
  mean: np.ndarray
  std: np.ndarray
  numbers: dict[str, float]


def truth(actions: np.ndarray) -> np.ndarray:
  """The function that the data are samples of."""
  return np.sin(2 * actions)


def make_data(size: int = 64, seed: int = 0) -> Data:
  """Noisy values in two clusters."""
  rng = np.random.default_rng(seed)
  parts = [rng.uniform(low, high, size // 2) for low, high in CLUSTERS]
  actions = np.sort(np.concatenate(parts))
  rewards = truth(actions) + rng.normal(0, NOISE, len(actions))
  return Data(actions.astype(np.float32), rewards.astype(np.float32))


def plain(num_members: int) -> Case:
  """An ensemble of point estimates without any regularizer."""
  return Case(f'{num_members} members', num_members, heads.PointHead,
              _without_parts)


def drvf(num_members: int, eta_ood: float) -> Case:
  """Bayesian heads, KL and repulsion from uniform actions."""
  return Case(f'{num_members} members + repulsion', num_members,
              heads.BayesianHead, _drvf_agent(eta_ood), draws=4)


def without_repulsion(num_members: int) -> Case:
  """Bayesian heads and KL alone: what of it all is repulsion's."""
  return Case(f'{num_members} members, Bayesian heads', num_members,
              heads.BayesianHead, _drvf_agent(0.0), draws=4, shown=False)


def cases(few: int = 5, many: int = 50, eta_ood: float = 0.1) -> list[Case]:
  """The three panels, and one more line for the table."""
  return [plain(few), drvf(few, eta_ood), plain(many),
          without_repulsion(few)]


def _drvf_agent(eta_ood: float) -> Callable[..., drvf_agent.DRVFAgent]:
  return functools.partial(
      drvf_agent.DRVFAgent, eta_ood=eta_ood, num_ood_actions=1,
      ood_source=ood_actions.uniform)


def fit(case: Case, data: Data, num_steps: int = 1_000,
        seed: int = 0) -> Fit:
  """Trains an ensemble and asks it for Q everywhere.

  Args:
    case: The ensemble.
    data: What it sees, whole in each step.
    num_steps: Train steps.
    seed: Of initial weights and all draws.

  Returns:
    The fit.
  """
  agent = _agent(case, len(data.actions), seed)
  _train(agent, _batch(data), num_steps)
  grid = np.linspace(-LIMIT, LIMIT, 241, dtype=np.float32)
  pairs = (tf.ones([len(grid), 1]), tf.constant(grid[:, np.newaxis]))
  q, _ = agent.critic_network(
      pairs, num_samples=case.draws, seed=tf.constant([seed, 1]))
  stats = agent.critic_network.uncertainty(pairs)
  mean, std = stats.mean.numpy(), stats.std.numpy()
  return Fit(case, grid, np.transpose(q.samples.numpy(), [0, 2, 1]), mean,
             std, _numbers(grid, mean, std, data))


def _train(agent: ensemble_sac_agent.EnsembleSacAgent,
           batch: trajectory.Transition, num_steps: int) -> None:
  """Descends the agent's critic loss; there is no actor to learn here."""
  variables = agent.critic_network.trainable_variables
  # The rate falls to 0, so that the last draws do not show in the picture.
  optimizer = tf.keras.optimizers.legacy.Adam(
      tf.keras.optimizers.schedules.PolynomialDecay(
          LEARNING_RATE, num_steps, 0.0))
  time_steps, policy_steps, next_time_steps = batch

  @tf.function(autograph=False)
  def step():
    with tf.GradientTape() as tape:
      loss = agent.critic_loss(
          time_steps, policy_steps.action, next_time_steps)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    agent.train_step_counter.assign_add(1)

  for _ in range(num_steps):
    step()


def _numbers(grid: np.ndarray, mean: np.ndarray, std: np.ndarray,
             data: Data) -> dict[str, float]:
  distance = np.abs(grid[:, np.newaxis] - data.actions).min(axis=1)
  off = distance > OFF_DATA
  inside = np.abs(truth(grid) - mean) <= 2 * std
  return {
      'std_on_data': float(np.interp(data.actions, grid, std).mean()),
      'std_off_data': float(std[off].mean()),
      'truth_in_band_off_data': float(inside[off].mean()),
  }


def _agent(case: Case, batch_size: int,
           seed: int) -> ensemble_sac_agent.EnsembleSacAgent:
  observation = tensor_spec.TensorSpec([1], tf.float32)
  action = tensor_spec.BoundedTensorSpec([1], tf.float32, -LIMIT, LIMIT)
  # (10) for noise of variance s²: mean squared error + 2s²/N · KL.
  return build.build_agent(
      ts.time_step_spec(observation), action,
      num_batches=batch_size / (2 * NOISE**2), seed=seed,
      agent_class=case.agent,
      critic_class=functools.partial(
          ensemble_critic_network.EnsembleCriticNetwork,
          num_members=case.num_members, hidden_units=(64, 64),
          head=case.head),
      actor_fn=functools.partial(
          actor_network.tanh_gaussian_actor, hidden_units=(8,)))


def _without_parts(*args: Any, num_batches: float,
                   **kwargs: Any) -> ensemble_sac_agent.EnsembleSacAgent:
  del num_batches  # there is no KL to scale
  return ensemble_sac_agent.EnsembleSacAgent(*args, **kwargs)


def _batch(data: Data) -> trajectory.Transition:
  """One-step episodes: discount 0, the reward is the whole target."""
  rows = len(data.actions)
  state, ones = tf.ones([rows, 1]), tf.ones([rows])
  return trajectory.Transition(
      ts.TimeStep(tf.zeros([rows], tf.int32), ones, ones, state),
      policy_step.PolicyStep(tf.constant(data.actions[:, np.newaxis]), (), ()),
      ts.TimeStep(tf.fill([rows], 2), tf.constant(data.rewards), 0 * ones,
                  state))


def table(fits: Sequence[Fit]) -> str:
  """One line per ensemble."""
  lines = [f'{"":30}{"std on data":>12}{"std off data":>14}{"ratio":>8}'
           f'{"truth in ±2 std off data":>27}']
  for case, *_, numbers in fits:
    on, off, inside = numbers.values()
    lines.append(f'{case.name:30}{on:12.3f}{off:14.3f}{off / on:8.1f}'
                 f'{100 * inside:25.0f} %')
  return '\n'.join(lines)
