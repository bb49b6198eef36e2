"""COMBO (Yu et al., 2021): its conservative term."""
from typing import Optional

import gin

from drvf_tf.losses import msg
from drvf_tf.losses import regularizers as base


@gin.configurable
class ConservativeMixture(msg.ConservativeQ):
  """COMBO: log ∫ exp Q(s, a) da is lowered at all states, Q raised on data.

  As CQL(H) estimates it, with K actions of the policy at s, K of the policy at
  s' and K uniform ones. All are proposals for the integral at s, so each is
  evaluated there, and divided by its density where it was drawn.
  """

  def pairs(self, context: base.Context) -> Optional[base.Pairs]:
    """K actions of π(s), K of π(s'), K uniform: `[3·K·B, ·]`."""
    return msg.proposals(
        context, [context.observations, context.next_observations],
        self._num_actions)
