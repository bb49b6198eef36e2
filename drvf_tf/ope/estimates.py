"""All estimates of one policy's value, side by side, with their warnings."""
import math
from typing import Any, NamedTuple, Optional

import gin
import numpy as np

from drvf_tf.data import offline_dataset, transforms
from drvf_tf.dynamics import dynamics_ensemble, terminations
from drvf_tf.ope import behaviour as behaviour_lib
from drvf_tf.ope import fitted_q, importance, model_value, own_critic
from drvf_tf.policies import support, uncertainty_policy

# What each estimate is, in the order of the table.
NAMES = {
    'behaviour': "what the data's own policy got",
    'fqe': 'fitted Q evaluation',
    'lcb': "the run's own critic, lower bound",
    'critic': "the run's own critic, mean",
    'wdr': 'weighted doubly robust',
    'wis': 'weighted importance sampling',
    'model': "rollouts in the run's dynamics model",
}
_FEW = 0.05  # share of episodes that must carry the weights
_LEFT = 0.05  # share of a value that may lie beyond the recorded episodes
_OUTSIDE = 0.1  # share of actions that may be outside the support
_LONGEST = 1_000  # steps of a rollout in a model


class Estimate(NamedTuple):
  """One estimate of E[Σ_t γ^t r_t], in the units of the recorded rewards.

  Attributes:
    name: A key of `NAMES`.
    value: The estimate.
    low: Of the 95 % interval.
    high: Of the 95 % interval.
    sample_size: Effective number of episodes, where weights have one.
    warnings: What speaks against it, in words.
  """
  name: str
  value: float
  low: float
  high: float
  sample_size: Optional[float] = None
  warnings: tuple[str, ...] = ()


class Policy(NamedTuple):
  """What is evaluated.

  Attributes:
    critic: The run's own; its policy too.
    dataset: What the run was trained on, as it saw it.
    model: Its dynamics model, where it has one.
    termination: Of its task, for the model.
  """
  critic: own_critic.OwnCritic
  dataset: offline_dataset.OfflineDataset
  model: Optional[dynamics_ensemble.DynamicsEnsemble] = None
  termination: terminations.Termination = terminations.never


@gin.configurable
class OfflineEvaluation:
  """Evaluates policies on one dataset; what they share is made once."""

  def __init__(self,
               rows: offline_dataset.OfflineDataset,
               gamma: float,
               bootstrap_samples: int = 1_000,
               max_episodes: Optional[int] = None,
               seed: int = 0):
    """Takes the data apart by episodes.

    Args:
      rows: Raw observations, rewards as recorded.
      gamma: γ of the value to estimate.
      bootstrap_samples: Of episodes, for intervals.
      max_episodes: Uses so many at the most, drawn at random, where the data
        are more than one can wait for; None for all.
      seed: Of everything random.
    """
    if max_episodes is not None and max_episodes < rows.num_episodes:
      held_out = transforms.hold_out_episodes(
          rows, max_episodes / rows.num_episodes, seed).held_out
      assert held_out is not None
      rows = held_out
    self.rows, self.gamma, self._seed = rows, gamma, seed
    self._counts = importance.bootstrap_counts(
        rows.num_episodes, bootstrap_samples, seed)  # [B, E]
    self._rewards = behaviour_lib.by_episode(rows.rewards, rows)
    self._behaviour: Optional[behaviour_lib.Behaviour] = None

  def __call__(self, policy: Policy) -> list[Estimate]:
    """Every estimate that there is a ground for, in the order of `NAMES`."""
    greedy = policy.critic.act(self.rows.observations)
    fit = fitted_q.FittedQEvaluation()(
        self.rows, policy.critic.act, self.gamma)
    outside = self.share_outside(policy, fit.q, greedy)
    found = [self._recorded(), self._fitted(fit, outside),
             *self._own(policy, outside),
             *self._weighted(policy, fit.q, greedy), *self._modelled(policy)]
    return sorted(found, key=lambda one: list(NAMES).index(one.name))

  def without_a_fit(self, policy: Policy) -> list[Estimate]:
    """What the data and the run's own critic say: nothing is fitted."""
    outside = 0.0
    if policy.critic.policy is not None:
      outside = self._closed(policy.critic.policy)
    return [self._recorded(), *self._own(policy, outside)]

  def share_outside(self, policy: Policy, q: fitted_q.FittedQ,
                    greedy: np.ndarray) -> float:
    """Share of the policy's actions that the data do not support.

    By the gate of the run where it has one, else by the fitted members' own
    disagreement: more than on 99 % of the recorded actions.
    """
    if policy.critic.policy is not None:
      return self._closed(policy.critic.policy)
    chosen = np.random.default_rng(self._seed).choice(
        self.rows.size, min(4_000, self.rows.size), replace=False)
    seen = self.rows.observations[chosen]
    data, own = (q(seen, actions[chosen]).std(axis=0)
                 for actions in (self.rows.actions, greedy))
    return float(np.mean(own > np.quantile(data, 0.99)))

  def _closed(self, policy: uncertainty_policy.UncertaintyPolicy) -> float:
    """How often the run's own gate closes on its own actions."""
    measured = support.measure(
        policy, self.rows, 'recorded rows', max_rows=2_000)
    return float(measured.report['gate_closed']['policy_actions'])

  def _recorded(self) -> Estimate:
    lengths = self._rewards.shape[1]
    values = self._rewards @ self.gamma**np.arange(lengths)  # [E]
    samples = self._counts @ values / self.rows.num_episodes
    return Estimate('behaviour', float(values.mean()),
                    *importance.interval(samples),
                    float(self.rows.num_episodes), self._horizon())

  def _fitted(self, fit: fitted_q.Evaluated, outside: float) -> Estimate:
    return Estimate('fqe', fit.estimate, *fit.interval,
                    warnings=_extrapolates(outside))

  def _own(self, policy: Policy, outside: float) -> list[Estimate]:
    if policy.critic.policy is None:
      return []
    first = self.rows.observations[self.rows.initial_rows()]
    statistics = policy.critic.statistics(first, policy.critic.act(first))
    found = []
    for name, key in (('lcb', 'q_lcb'), ('critic', 'q_mean')):
      values, notes = in_recorded_units(
          statistics[key], policy.dataset, self.gamma)
      found.append(Estimate(
          name, float(values.mean()),
          *importance.interval(self._counts @ values / len(values)),
          warnings=(*_extrapolates(outside), *notes)))
    return found

  def _weighted(self, policy: Policy, q: fitted_q.FittedQ,
                greedy: np.ndarray) -> list[Estimate]:
    """Importance sampling, alone and with the fitted values."""
    rows = self.rows
    if self._behaviour is None:
      self._behaviour = behaviour_lib.Behaviour(rows, seed=self._seed)
    log_ratios = behaviour_lib.by_episode(
        self._behaviour.log_ratios(greedy), rows)
    size = importance.effective_sample_size(log_ratios.sum(axis=1))
    overlap: tuple[str, ...] = ()
    if size < max(2.0, _FEW * rows.num_episodes):
      overlap = (f'no overlap: {size:.1f} of {rows.num_episodes:,} episodes '
                 'carry all the weight, the others do what this policy does '
                 'not',)
    q_taken = q(rows.observations, rows.actions).mean(axis=0)
    noisy = self._behaviour.noisy(rows.observations, greedy, self._seed)
    values = q(rows.observations, noisy).mean(axis=0)
    found = []
    for name, function, more in (
        ('wis', importance.weighted_importance_sampling, ()),
        ('wdr', importance.weighted_doubly_robust,
         (behaviour_lib.by_episode(q_taken, rows),
          behaviour_lib.by_episode(
              values, rows, self._after(policy, q))))):
      def estimate(counts=None, function=function, more=more):
        return function(self._rewards, log_ratios, *more, self.gamma, counts)
      found.append(Estimate(
          name, float(estimate()[0]),
          *importance.interval(estimate(self._counts)), size,
          (*overlap, *(self._horizon() if name == 'wis' else ()))))
    return found

  def _after(self, policy: Policy, q: fitted_q.FittedQ) -> np.ndarray:
    """V of what follows each episode's last row: 0 after a terminal."""
    ends = self.rows.episode_ends
    following = self.rows.next_observations[ends]
    values = q(following, policy.critic.act(following)).mean(axis=0)
    return np.where(self.rows.terminals[ends], 0.0, values)

  def _modelled(self, policy: Policy) -> list[Estimate]:
    if policy.model is None:
      return []
    horizon = min(_LONGEST, math.ceil(math.log(0.01) / math.log(self.gamma)))
    values = model_value.model_values(
        policy.model, policy.dataset, policy.critic.act, self.gamma, horizon,
        policy.termination, seed=self._seed)
    values, notes = in_recorded_units(values, policy.dataset, self.gamma)
    return [Estimate('model', float(values.mean()),
                     *fitted_q.t_interval(values), warnings=(
                         f'a rollout of {horizon} steps adds up the errors of '
                         'each', *notes))]

  def _horizon(self) -> tuple[str, ...]:
    """Says when episodes were cut long before their value is all there."""
    ends = self.rows.episode_ends
    cut = ~self.rows.terminals[ends]
    if not cut.any():
      return ()
    left = float(np.mean(self.gamma**self.rows.episode_lengths()[cut]))
    if left <= _LEFT:
      return ()
    return (f'horizon: episodes are cut where {100 * left:.0f} % of a value at '
            f'γ = {self.gamma:g} is yet to come, which counts as nothing',)


def in_recorded_units(values: np.ndarray,
                      dataset: offline_dataset.OfflineDataset, gamma: float
                      ) -> tuple[np.ndarray, tuple[str, ...]]:
  """V = V'/c + o Σ_t γ^t, where a run has seen rewards c (r − o).

  Args:
    values: V', in the units of the dataset's rewards.
    dataset: What the run was trained on.
    gamma: γ.

  Returns:
    V, and a warning where Σ_t γ^t is a guess since episodes may end.
  """
  values = np.asarray(values, np.float64) / dataset.reward_scale
  if not dataset.reward_offset:
    return values, ()
  steps = dataset.episode_lengths()
  ended = dataset.terminals[dataset.episode_ends]
  sums = np.where(ended, 1 - gamma**steps, 1.0) / (1 - gamma)
  notes = ('episodes are taken to last as long as the recorded ones',)
  return (values + dataset.reward_offset * float(sums.mean()),
          notes if ended.any() else ())


def table(estimates: list[Estimate], gamma: float) -> str:
  """The estimates for a terminal; every warning on a line of its own."""
  lines = [f'{"":38}{"estimate":>11}  {"95 % interval":^23}{"episodes":>9}']
  marks: dict[str, int] = {}
  for one in estimates:
    numbers = [marks.setdefault(text, len(marks) + 1) for text in one.warnings]
    size = '' if one.sample_size is None else f'{one.sample_size:,.4g}'
    lines.append(
        f'{NAMES[one.name]:38}{one.value:11.4g}  {one.low:10.4g} to '
        f'{one.high:<10.4g}{size:>8}  '
        + ' '.join(f'[{number}]' for number in numbers))
  lines += [f'  [{number}] {text}.' for text, number in marks.items()]
  return '\n'.join([*(line.rstrip() for line in lines), '',
                    f'Discounted returns at γ = {gamma:g}, in the units of the '
                    'recorded rewards.'])


def to_json(estimates: list[Estimate]) -> list[dict[str, Any]]:
  """The estimates in JSON's terms."""
  return [{**one._asdict(), 'warnings': list(one.warnings)}
          for one in estimates]


def _extrapolates(outside: float) -> tuple[str, ...]:
  if outside <= _OUTSIDE:
    return ()
  return (f'extrapolation: {100 * outside:.0f} % of the policy actions are '
          'outside what the data support',)
