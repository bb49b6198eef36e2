"""Stops a run that has gone wrong, and warns of one that is going wrong."""
import math
from collections.abc import Mapping
from typing import Callable, Optional

import gin

from drvf_tf import errors
from drvf_tf.train import monitors

Row = Mapping[str, float]
Yardstick = Optional[monitors.Yardstick]


@gin.configurable
class Guard:
  """Bounds on what training may report; docs/healthy.md explains each."""

  def __init__(self,
               max_abs_q: float = 1e5,
               min_effective_members: float = 1.05,
               min_sigma_share: float = 0.01,
               grace_steps: int = 5_000):
    """Creates it.

    Args:
      max_abs_q: |Q| on data or on policy actions above it stops the run.
      min_effective_members: Fewer directions in which the Q samples differ
        give a warning.
      min_sigma_share: A smaller share of the spread of Q that is the
        posterior's own gives a warning.
      grace_steps: No warning before this train step.
    """
    if max_abs_q <= 0:
      raise ValueError(f'max_abs_q must be positive, not {max_abs_q}.')
    self._max_abs_q = max_abs_q
    self._min_effective_members = min_effective_members
    self._min_sigma_share = min_sigma_share
    self._grace_steps = grace_steps
    self._warned: set[Callable] = set()

  def check(self, metrics: Row) -> None:
    """Raises `DivergedError` if training has diverged."""
    for name, value in metrics.items():
      if not math.isfinite(value):
        raise errors.DivergedError(f'{name} became {value}')
    for name in ('q_data', 'q_policy'):
      value = metrics.get(name, 0.0)
      if abs(value) > self._max_abs_q:
        raise errors.DivergedError(
            f'{name} ran away to {value:.4g}, beyond Guard.max_abs_q = '
            f'{self._max_abs_q:g}')

  def review(self, row: Row, yardstick: Yardstick, step: int,
             say: Callable[[str], None]) -> None:
    """Says what is wrong with a row of metrics, each thing once.

    Args:
      row: With its monitors.
      yardstick: What it is measured against, where the method has values.
      step: Of the row.
      say: Shows a line to a person.
    """
    if step < self._grace_steps:
      return
    for rule in (self._few_directions, self._no_posterior, self._out_of_range,
                 self._too_pessimistic):
      sentence = None if rule in self._warned else rule(row, yardstick)
      if sentence is not None:
        self._warned.add(rule)
        say(f'Warning, step {step:,}: {sentence} (docs/healthy.md)')

  def _few_directions(self, row: Row, yardstick: Yardstick
                      ) -> Optional[str]:
    del yardstick
    members = row.get('effective_members', math.inf)
    if members >= self._min_effective_members:
      return None
    return (f'the ensemble has collapsed: its Q samples differ in '
            f'{members:.2f} directions; a larger eta_ood or more members help.')

  def _no_posterior(self, row: Row, yardstick: Yardstick
                    ) -> Optional[str]:
    share = row.get('sigma_share', 1.0)
    if (yardstick is None or yardstick.draws < 2
        or share >= self._min_sigma_share):
      return None
    members, draws = yardstick.members, yardstick.draws
    return (f'the {draws} draws of a member coincide (σ has {100 * share:.2g} '
            f'% of the variance of Q): the minimum of {members * draws} '
            f'samples is one of {members}; LayerNorm, kl_scale = @kl_mean or '
            'the backup @lcb help.')

  def _out_of_range(self, row: Row, yardstick: Yardstick
                    ) -> Optional[str]:
    q = row.get('q_data')
    if (yardstick is None or q is None
        or yardstick.lowest <= q <= yardstick.highest):
      return None
    if q > yardstick.highest:
      return (f'Q on data is {q:.4g}, above the {yardstick.highest:.4g} that '
              "the data's rewards allow: pessimism does not hold it; "
              'normalised states and LayerNorm are the first things to try.')
    return (f'Q on data is {q:.4g}, below the {yardstick.lowest:.4g} that the '
            "data's rewards allow: pessimism takes more than they give; a "
            'smaller α of the backup or a smaller eta_ood help.')

  def _too_pessimistic(self, row: Row, yardstick: Yardstick
                       ) -> Optional[str]:
    penalty = row.get('target_penalty', 0.0)
    if yardstick is None or penalty <= yardstick.reward:
      return None
    return (f'the target subtracts {penalty:.3g} a step where rewards are of '
            f'size {yardstick.reward:.3g}: what the policy earns does not '
            'count any more; a smaller α, eta_ood or larger rewards help.')
