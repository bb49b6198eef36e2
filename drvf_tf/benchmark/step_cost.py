"""Train steps to time: this project's, its naive form, TF-Agents' SAC."""
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.agents.ddpg import critic_network as ddpg_critic
from tf_agents.agents.sac import sac_agent
from tf_agents.networks import network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import build, drvf_agent
from drvf_tf.benchmark import timing
from drvf_tf.networks import actor_network, ensemble_critic_network

ETA_Q, ETA_OOD = 5.0, 3.0  # of hopper-medium: weights of 1 would not show


@dataclasses.dataclass(frozen=True)
class Sizes:
  """Of a step; the defaults are halfcheetah and walker2d at M = 5."""
  members: int = 5
  samples: int = 5
  ood_actions: int = 10
  ood_states: int = 256
  batch: int = 256
  observation: int = 17
  action: int = 6
  hidden: tuple[int, ...] = (256, 256, 256)
  layer_norm: bool = False
  stacked: Optional[bool] = None  # the critic's form; its own choice

  def forward_flops(self, samples: int = 0) -> int:
    """Operations of one critic on one row, forward; multiply-add is two."""
    widths = (self.observation + self.action, *self.hidden)
    trunk = sum(2 * a * b for a, b in zip(widths, widths[1:]))
    return trunk + 2 * (widths[-1] + 1) * (samples or self.samples)

  def actor_flops(self) -> int:
    """Operations of the actor on one row, forward."""
    widths = (self.observation, *self.hidden, 2 * self.action)
    return sum(2 * a * b for a, b in zip(widths, widths[1:]))


def drvf_flops(sizes: Sizes) -> float:
  """Operations that a DRVF step cannot do without.

  Critic: data and OOD rows forward, and backward to weights and inputs, less
  the first layer's inputs; target rows forward; the actor's rows forward and
  backward to the actions. Actor: next actions, OOD actions, its own update.
  """
  one = sizes.members * sizes.forward_flops()
  first = sizes.members * 2 * (
      sizes.observation + sizes.action) * sizes.hidden[0]
  rows = sizes.batch + sizes.ood_actions * sizes.ood_states
  critic = rows * (3 * one - first) + sizes.batch * one + sizes.batch * 2 * one
  actor = sizes.actor_flops() * (
      sizes.batch + sizes.ood_states + 3 * sizes.batch)
  return float(critic + actor)


def sac_flops(sizes: Sizes) -> float:
  """Operations of TF-Agents' SAC step: two critics, no OOD rows."""
  one = 2 * sizes.forward_flops(samples=1)
  critic = sizes.batch * (3 * one + one + 2 * one)
  return float(critic + sizes.actor_flops() * sizes.batch * 5)


class _NaiveCritic(ensemble_critic_network.EnsembleCriticNetwork):
  """The form to beat: the whole network is called once per draw."""

  def call(self, inputs, step_type=(), network_state=(), training=False,
           num_samples=1, seed=None):
    draws = []
    for k in range(num_samples):
      draw_seed = None if seed is None else seed + k
      q, _ = super().call(inputs, num_samples=1, seed=draw_seed)
      draws.append(q)
    samples = tf.concat([q.samples for q in draws], axis=-1)
    return draws[0]._replace(samples=samples), network_state

  def evaluate(self, sets, num_samples, seed=None):
    if len(sets) == 1:
      return super().evaluate(sets, num_samples, seed)
    return [self(inputs, num_samples=num_samples, seed=seed + i)[0]
            for i, inputs in enumerate(sets)]


def _specs(sizes: Sizes) -> tuple[ts.TimeStep, types.BoundedTensorSpec]:
  observation = tensor_spec.TensorSpec([sizes.observation], tf.float32)
  action = tensor_spec.BoundedTensorSpec(
      [sizes.action], tf.float32, -1.0, 1.0)
  return ts.time_step_spec(observation), action


def batch(sizes: Sizes) -> trajectory.Transition:
  """A batch of noise; every eighth row ends its episode."""
  rng = np.random.default_rng(0)
  normal = lambda *shape: tf.constant(rng.normal(size=shape), tf.float32)  # noqa: E731
  rows = sizes.batch
  step_type, ones = tf.ones([rows], tf.int32), tf.ones([rows])
  discount = tf.cast(tf.range(rows) % 8 > 0, tf.float32)
  action = tf.tanh(normal(rows, sizes.action))
  return trajectory.Transition(
      ts.TimeStep(step_type, ones, ones, normal(rows, sizes.observation)),
      policy_step.PolicyStep(action, (), {'next_action': action}),
      ts.TimeStep(step_type, normal(rows), discount,
                  normal(rows, sizes.observation)))


def count(networks: Sequence[network.Network]) -> int:
  """Number of parameters."""
  return sum(v.shape.num_elements() for n in networks for v in n.variables)


def graph(learner: tf_agent.TFAgent, sizes: Sizes) -> Any:
  """One train step on a batch of noise, traced."""
  experience = batch(sizes)
  one = tf.function(lambda: learner.train(experience).loss, autograph=False)
  one.get_concrete_function()
  return one


def _candidate(name: str, one: Callable[[], tf.Tensor], flops: float,
               networks: Sequence[network.Network]) -> timing.Candidate:
  @tf.function
  def step(count):
    for _ in tf.range(count):
      one()

  return timing.Candidate(name, timing.timed(step), flops, count(networks))


def candidate(name: str, one: Callable[[], tf.Tensor],
              learner: drvf_agent.DRVFAgent,
              sizes: Sizes) -> timing.Candidate:
  """A traced step of ours, to be timed."""
  return _candidate(name, one, drvf_flops(sizes), networks(learner))


def drvf(sizes: Sizes,
         name: str = 'DRVF',
         critic_class: Callable[..., network.Network] = (
             ensemble_critic_network.EnsembleCriticNetwork)
         ) -> timing.Candidate:
  """This project's step."""
  learner = agent(sizes, critic_class)
  return candidate(name, graph(learner, sizes), learner, sizes)


def drvf_xla(sizes: Sizes) -> timing.Candidate:
  """The same step as gin/xla.gin has it: compiled whole, member by member."""
  learner = agent(dataclasses.replace(sizes, stacked=False))
  graph(learner, sizes)  # makes the optimizers' variables, which XLA cannot
  experience = batch(sizes)

  def train() -> None:
    learner.train(experience)

  one = tf.function(train, autograph=False, jit_compile=True)
  return candidate('DRVF, XLA', one, learner, sizes)


def networks(learner: drvf_agent.DRVFAgent) -> Sequence[network.Network]:
  """All that an agent keeps."""
  return (learner.critic_network, learner.target_critic_network,
          learner.actor_network)


def agent(sizes: Sizes,
          critic_class: Callable[..., network.Network] = (
              ensemble_critic_network.EnsembleCriticNetwork)
          ) -> drvf_agent.DRVFAgent:
  """A DRVF agent of these sizes."""
  return build.build_agent(
      *_specs(sizes), num_batches=1_000.0,
      agent_class=functools.partial(
          drvf_agent.DRVFAgent, eta_q=ETA_Q, eta_ood=ETA_OOD,
          num_samples=sizes.samples,
          num_ood_actions=sizes.ood_actions,
          ood_batch_size=sizes.ood_states),
      critic_class=functools.partial(
          critic_class, num_members=sizes.members,
          hidden_units=sizes.hidden, layer_norm=sizes.layer_norm,
          stacked=sizes.stacked),
      actor_fn=functools.partial(
          actor_network.tanh_gaussian_actor, hidden_units=sizes.hidden))


def naive(sizes: Sizes) -> timing.Candidate:
  """The same step with the whole network called n times."""
  return drvf(sizes, 'DRVF, naive', _NaiveCritic)


def sac(sizes: Sizes) -> timing.Candidate:
  """TF-Agents' own SAC: two critics, no ensemble, no OOD rows."""
  time_step_spec, action_spec = _specs(sizes)
  adam = functools.partial(tf.keras.optimizers.legacy.Adam, 3e-4)
  critic = ddpg_critic.CriticNetwork(
      (time_step_spec.observation, action_spec),
      joint_fc_layer_params=sizes.hidden)
  actor = actor_network.tanh_gaussian_actor(
      time_step_spec.observation, action_spec, hidden_units=sizes.hidden)
  agent = sac_agent.SacAgent(
      time_step_spec, action_spec, critic, actor, adam(), adam(), adam(),
      target_update_tau=0.005, gamma=0.99,
      train_step_counter=tf.Variable(0, dtype=tf.int64))
  networks = (agent._critic_network_1, agent._critic_network_2,
              agent._target_critic_network_1, agent._target_critic_network_2,
              actor)
  return _candidate('TF-Agents SAC', graph(agent, sizes), sac_flops(sizes),
                    networks)


def gemm(sizes: Sizes, repeats: int = 20) -> timing.Candidate:
  """Products of the hidden layers' shape: the machine's measured peak."""
  rows = sizes.batch + sizes.ood_actions * sizes.ood_states
  width = sizes.hidden[-1]
  a, b = tf.random.normal([rows, width]), tf.random.normal([width, width])

  @tf.function
  def step(count):
    x = a
    for _ in tf.range(count):
      for _ in range(repeats):
        x = tf.matmul(x, b)
    return x

  return timing.Candidate(
      'GEMM peak', timing.timed(step), 2.0 * repeats * rows * width**2, 0)
