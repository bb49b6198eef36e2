"""What the train steps of all agents share: checks, averages, updates."""
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import tensorflow as tf
from tf_agents.networks import network
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.networks import noise


class Pass(NamedTuple):
  """An objective and what was seen on the way.

  Attributes:
    loss: Scalar, this replica's part of the global loss.
    metrics: Scalars, this replica's parts.
  """
  loss: tf.Tensor
  metrics: dict[str, tf.Tensor]


class ActorAndCritics(NamedTuple):
  """What a method with two critics learns, and by which optimizers.

  Attributes:
    actor: Observations to actions, or to a distribution of them.
    critics: (Observations, actions) to Q, two of them; each target network is
      a copy.
    actor_optimizer: Of the actor.
    critic_optimizer: Of both critics.
  """
  actor: network.Network
  critics: tuple[network.Network, network.Network]
  actor_optimizer: types.Optimizer
  critic_optimizer: types.Optimizer


def acting_network(agent: Any) -> network.Network:
  """The network that acts for an agent with an actor."""
  return getattr(agent, 'acting_network', agent.actor_network)


def check_action_spec(action_spec: types.NestedTensorSpec) -> None:
  """Raises unless the actions are one bounded, continuous vector."""
  flat = tf.nest.flatten(action_spec)
  if len(flat) != 1 or flat[0] is not action_spec:
    raise ValueError(f'action_spec must be one vector, not {action_spec}.')
  if not action_spec.dtype.is_floating:
    raise ValueError(
        f'action_spec must be continuous, not {action_spec.dtype.name}: '
        'discrete actions are not supported.')
  bounds = [getattr(action_spec, side, None) for side in ('minimum', 'maximum')]
  largest = action_spec.dtype.max
  if any(b is None or not (abs(b) < largest).all() for b in bounds):
    raise ValueError(
        f'action_spec must be bounded on both sides, not {action_spec}.')


def check_batch(time_steps: ts.TimeStep, actions: tf.Tensor,
                next_time_steps: ts.TimeStep) -> None:
  """Stops the step if the batch holds NaN or inf, naming where."""
  for where, values in (('observation', time_steps.observation),
                        ('action', actions),
                        ('reward', next_time_steps.reward),
                        ('next observation', next_time_steps.observation)):
    tf.debugging.check_numerics(
        values, f'The {where} of the experience holds NaN or inf.')


def data_weights(experience: Any) -> Optional[tf.Tensor]:
  """Weights that make a mean over a batch one over its rows of the data.

  A source whose batches are not all data gives them as the `info` of the
  actions, which TF-Agents takes off a transition that it converts.

  Args:
    experience: A batch, as it came.

  Returns:
    `[B]`, 0 at rows that are not the data's; None where all rows are.
  """
  info = getattr(getattr(experience, 'action_step', None), 'info', None)
  return info if tf.is_tensor(info) else None


def own_train_step() -> tf.Variable:
  """A counter of one agent, not the global step that all agents share."""
  return tf.Variable(
      0, dtype=tf.int64, trainable=False, name='train_step',
      aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)


def average(term: tf.Tensor,
            weights: Optional[tf.Tensor] = None) -> tf.Tensor:
  """This replica's part of the mean over the global batch, of `[B]`."""
  if weights is not None:
    term = term * weights
  return added_once(tf.reduce_mean(term))


def added_once(term: tf.Tensor) -> tf.Tensor:
  """This replica's part of a scalar that is the same on all of them."""
  replicas = noise.num_replicas()
  return term if replicas == 1 else term / replicas


def share(values: tf.Tensor) -> tf.Tensor:
  """Mean of a statistic, as this replica's part of a sum over replicas."""
  return added_once(tf.reduce_mean(values))


def descend(tape: tf.GradientTape, loss: tf.Tensor,
            variables: Sequence[tf.Variable],
            optimizer: types.Optimizer) -> None:
  """One step of the optimizer; a loss that is NaN or inf raises."""
  tf.debugging.check_numerics(loss, 'A loss is inf or nan.')
  optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


def update_targets(pairs: Sequence[tuple[network.Network, network.Network]],
                   tau: float, step: tf.Variable, period: int = 1) -> None:
  """Polyak: moves each (online, target) pair's target, in steps that are due.

  Args:
    pairs: Online and target networks.
    tau: How far a target moves towards its online network.
    step: The train step, counted from 0.
    period: The first step is due, and every `period`-th after it.
  """
  def towards(source: tf.Variable, moved: tf.Variable,
              part: tf.Tensor) -> tf.Operation:
    if tau == 1.0:  # a copy, to the last bit
      return moved.assign(source, read_value=False)
    return moved.assign_add(part * (source - moved), read_value=False)

  def move():
    part = tf.constant(tau)  # one for all variables
    return tf.group(*(
        towards(*pair, part) for online, target in pairs
        for pair in zip(online.trainable_variables,
                        target.trainable_variables)))

  def move_if_due(strategy=None):
    del strategy
    if period == 1:
      return move()
    return tf.cond(tf.equal(step % period, 0), move, tf.no_op)

  context = tf.distribute.get_replica_context()
  if context is None:
    move_if_due()
  else:
    context.merge_call(move_if_due)
