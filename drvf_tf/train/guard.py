"""Stops a run that has gone wrong before it writes a bad checkpoint."""
import math
from typing import Mapping, Optional

import gin
from absl import logging

from drvf_tf.train import errors


@gin.configurable
class Guard:
  """Bounds on what training may report."""

  def __init__(self,
               max_abs_q: float = 1e5,
               min_effective_members: float = 1.05):
    """Creates it.

    Args:
      max_abs_q: |Q| on data or on policy actions above it stops the run.
      min_effective_members: Fewer directions in which the Q samples differ
        give a warning, once.
    """
    if max_abs_q <= 0:
      raise ValueError(f'max_abs_q must be positive, not {max_abs_q}.')
    self._max_abs_q = max_abs_q
    self._min_effective_members = min_effective_members
    self._warned = False

  def check(self, metrics: Mapping[str, float], step: int) -> None:
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
    self._warn(metrics.get('effective_members'), step)

  def _warn(self, members: Optional[float], step: int) -> None:
    if (self._warned or members is None
        or members >= self._min_effective_members):
      return
    self._warned = True
    logging.warning(
        'The ensemble has collapsed by step %d: its Q samples differ in %.2f '
        'directions (Guard.min_effective_members = %g); a larger eta_ood or '
        'more members help.', step, members, self._min_effective_members)
