"""Collection policies: what an agent does where it may act.

Each part takes a `View`, one state as an agent sees it, and gives an action
`[1, act]`. Its randomness is the view's: a function of the seed, the episode
and the step in it.
"""
from typing import Any, Callable, Optional, Union

import gin
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.policies import tf_policy
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts
from tf_agents.utils import common

from drvf_tf import errors
from drvf_tf.data import offline_dataset
from drvf_tf.networks import noise
from drvf_tf.policies import action_policy, uncertainty_policy

# What random draws are for; each has a stream of its own.
_EPISODE, _MEMBER, _STEP = 0x4f4e4c31, 0x4f4e4c32, 0x4f4e4c33


class View:
  """One raw observation, the agent's networks, and the noise of the step."""

  def __init__(self, policy: action_policy.ActionPolicy,
               observation: tf.Tensor, seed: int, episode: tf.Tensor,
               step: tf.Tensor, is_stochastic: bool = True):
    """Creates it.

    Args:
      policy: Of the agent.
      observation: `[1, obs]`.
      seed: Of all draws.
      episode: Episodes begun, a scalar.
      step: Steps in the episode before this one, a scalar.
      is_stochastic: Whether the actor gives a distribution.
    """
    self._policy, self._observation, self._seed = policy, observation, seed
    self._episode, self._step = episode, step
    self.is_stochastic = is_stochastic

  def greedy(self) -> tf.Tensor:
    """The most likely action, `[1, act]`."""
    return self._policy.greedy(self._observation)

  def samples(self, count: int) -> tf.Tensor:
    """Draws of the actor, `[count, act]`."""
    return self._policy.sample(self._rows(count), self._step_seed())

  def candidates(self, count: int) -> tf.Tensor:
    """The most likely action and draws of the actor, `[count, act]`."""
    if count < 2:
      raise ValueError(f'num_actions must be at least 2, not {count}.')
    return tf.concat([self.greedy(), self.samples(count - 1)], axis=0)

  def normal(self, width: int) -> tf.Tensor:
    """Standard normal noise of the step, `[1, width]`."""
    return tf.random.stateless_normal([1, width], self._step_seed())

  def drawn_value(self, actions: tf.Tensor) -> tf.Tensor:
    """Q of the episode's one draw (j, k) at actions `[N, act]`: `[N]`."""
    draws = self._uncertainty().draw(
        self._rows(tf.shape(actions)[0]), actions,
        noise.fold(self._seed, _EPISODE, self._episode))  # [M, N]
    member = tf.random.stateless_uniform(
        [], noise.fold(self._seed, _MEMBER, self._episode),
        maxval=draws.shape[0], dtype=tf.int32)
    return draws[member]

  def statistics(self, actions: tf.Tensor) -> dict[str, tf.Tensor]:
    """What the critic knows of actions `[N, act]`, `[N]` each."""
    return self._uncertainty().statistics(
        self._rows(tf.shape(actions)[0]), actions)

  @property
  def action_spec(self) -> Any:
    """Of one action."""
    return self._policy.action_spec

  def _rows(self, count: Union[int, tf.Tensor]) -> tf.Tensor:
    return tf.repeat(self._observation, count, axis=0)

  def _step_seed(self) -> tf.Tensor:
    return noise.fold(self._seed, _STEP, self._episode, self._step)

  def _uncertainty(self) -> uncertainty_policy.UncertaintyPolicy:
    if not isinstance(self._policy, uncertainty_policy.UncertaintyPolicy):
      raise _no_ensemble()
    return self._policy


Choice = Callable[[View], tf.Tensor]


@gin.configurable
def greedy(view: View) -> tf.Tensor:
  """The most likely action."""
  return view.greedy()


@gin.configurable
def actor_samples(view: View) -> tf.Tensor:
  """a ~ π(·|s), as SAC collects."""
  if not view.is_stochastic:
    raise errors.UserError(
        'The actor gives one action, of which there are no samples: collect '
        'with OnlineBatches.policy=@noisy.')
  return view.samples(1)


@gin.configurable
def noisy(view: View, std: float = 0.1) -> tf.Tensor:
  """π(s) + N(0, std²), in half widths of the bounds, as TD3 collects."""
  spec = view.action_spec
  radius = (spec.maximum - spec.minimum) / 2
  action = view.greedy() + std * radius * view.normal(spec.shape[0])
  return common.clip_to_spec(action, spec)


@gin.configurable
def posterior(view: View, num_actions: int = 32) -> tf.Tensor:
  """argmax_a ψ_j(s, a)ᵀ w_jk: Thompson sampling, one (j, k) an episode.

  Where a head has no posterior the draw is a member.

  Args:
    view: The state.
    num_actions: Of the actor, among which the largest is looked for.

  Returns:
    `[1, act]`.
  """
  actions = view.candidates(num_actions)
  return _best(actions, view.drawn_value(actions))


@gin.configurable
def optimistic(view: View, num_actions: int = 32,
               bonus: float = 1.0) -> tf.Tensor:
  """argmax_a Q̄(s, a) + bonus · Std(s, a): an upper confidence bound.

  Args:
    view: The state.
    num_actions: Of the actor, among which the largest is looked for.
    bonus: What a standard deviation is worth.

  Returns:
    `[1, act]`.
  """
  actions = view.candidates(num_actions)
  found = view.statistics(actions)
  return _best(actions, found['q_mean'] + bonus * found['q_std'])


def _no_ensemble() -> errors.UserError:
  return errors.UserError(
      'The agent has no ensemble critic, so there is no posterior, bonus or '
      'gate to act on: collect with OnlineBatches.policy=@actor_samples or '
      '@noisy, and without a fallback.')


def _best(actions: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
  return actions[tf.argmax(values)][tf.newaxis]


class ExplorationPolicy(tf_policy.TFPolicy):
  """A collection policy as TF-Agents' drivers take it, for one environment.

  Its state counts the episodes begun and the steps in the present one: all
  randomness follows from them and from the seed. `info` says, where the agent
  knows its uncertainty, q_std of the action chosen and `in_support`, whether
  that is as low as on data; where it is not, the fallback acts, if there is
  one.
  """

  def __init__(self,
               agent: Any,
               choice: Choice = posterior,
               dataset: Optional[offline_dataset.OfflineDataset] = None,
               seed: int = 0,
               fallback: Optional[Choice] = None):
    """Creates the policy; it follows the agent's variables.

    Args:
      agent: With an actor.
      choice: A part of this module, or one like them.
      dataset: What the agent was trained on; its normalisation is the
        policy's too.
      seed: Of all draws.
      fallback: What acts where the data do not support the choice.

    Raises:
      UserError: The agent lacks what the choice needs.
    """
    knows = uncertainty_policy.knows_uncertainty(agent)
    policy = (uncertainty_policy if knows else action_policy).of_agent(
        agent, dataset)
    info = {'q_std': tf.TensorSpec([], tf.float32, 'q_std'),
            'in_support': tf.TensorSpec([], tf.bool, 'in_support')}
    super().__init__(
        policy.time_step_spec, policy.action_spec,
        policy_state_spec=tf.TensorSpec([2], tf.int32, 'episode_and_step'),
        info_spec=info if knows else (), automatic_state_reset=False)
    self._policy, self._choice, self._fallback = policy, choice, fallback
    self._seed, self._knows = seed, knows
    self._threshold = tf.Variable(
        policy.time_step_spec.reward.dtype.max, trainable=False,
        dtype=tf.float32, name='support_threshold')
    if fallback is not None and not knows:
      raise _no_ensemble()
    self._is_stochastic = _is_stochastic(agent)
    # What the agent lacks is said here, not in the graph of a driver.
    self.action(ts.restart(tf.zeros([1, *policy.time_step_spec.observation
                                     .shape]), 1), self.get_initial_state(1))

  @property
  def inner(self) -> action_policy.ActionPolicy:
    """The agent's greedy policy, with its statistics where it has them."""
    return self._policy

  @property
  def threshold(self) -> tf.Variable:
    """The largest q_std that counts as supported by the data."""
    return self._threshold

  def _variables(self):
    return [self._threshold, *self._policy.variables()]

  def _action(self, time_step, policy_state, seed=None):
    del seed
    begun, step = policy_state[0, 0], policy_state[0, 1]
    first = time_step.is_first()[0]
    begun = tf.where(first, begun + 1, begun)
    step = tf.where(first, tf.zeros_like(step), step + 1)
    view = View(self._policy, time_step.observation, self._seed, begun, step,
                self._is_stochastic)
    action, info = self._choice(view), ()
    if self._knows:
      q_std = view.statistics(action)['q_std']
      info = {'q_std': q_std, 'in_support': q_std <= self._threshold}
      if self._fallback is not None:
        action = tf.where(info['in_support'][:, tf.newaxis], action,
                          self._fallback(view))
    return policy_step.PolicyStep(
        action, tf.stack([begun, step])[tf.newaxis], info)

  def _distribution(self, time_step, policy_state):
    raise NotImplementedError('A collection policy gives actions.')


def _is_stochastic(agent: Any) -> bool:
  """Whether the actor gives a distribution."""
  size = agent.time_step_spec.observation.shape[0]
  outcome, _ = agent.actor_network(tf.zeros([1, size]))
  return isinstance(outcome, tfp.distributions.Distribution)
