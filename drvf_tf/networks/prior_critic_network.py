"""An ensemble critic with frozen random priors (Osband et al., 2018)."""
import functools
from collections.abc import Sequence
from typing import Any, Optional

import gin
import tensorflow as tf
from tf_agents.typing import types

from drvf_tf.networks import (
  ensemble_critic_network,
  ensemble_layers,
  heads,
  q_values,
)


@gin.configurable
class PriorCriticNetwork(ensemble_critic_network.EnsembleCriticNetwork):
  """Q_j + scale · P_j, where P_j is a random network that never learns.

  Away from the data nothing pulls the priors together, so members differ
  there by what their priors differ.
  """

  def __init__(self,
               input_tensor_spec: types.NestedTensorSpec,
               prior_scale: float = 1.0,
               prior_range: float = 0.0625,
               seed: Optional[int] = None,
               name: str = 'PriorCriticNetwork',
               **kwargs: Any):
    """Creates the network.

    Args:
      input_tensor_spec: (observation, action) specs, one vector each.
      prior_scale: What the priors are multiplied with.
      prior_range: The priors' last layers are uniform in ± this.
      seed: Of the initial weights and of the priors.
      name: Name of the network.
      **kwargs: Of `EnsembleCriticNetwork`.
    """
    super().__init__(input_tensor_spec, seed=seed, name=name, **kwargs)
    self._prior_scale = prior_scale
    self._prior = ensemble_critic_network.EnsembleCriticNetwork(
        input_tensor_spec, num_members=self._num_members,
        hidden_units=self._hidden_units,
        head=functools.partial(heads.PointHead, mean_range=prior_range),
        layer_norm=False, l2=0.0, stacked=self._stacked,
        seed=None if seed is None else seed + 500,
        name='prior')
    self._prior.create_variables()
    self._prior.trainable = False

  def _deviations(
      self, sets: Sequence[ensemble_critic_network.ObservationAndAction],
      num_samples: int, seed: Optional[tf.Tensor]) -> list[q_values.QValues]:
    learned = super()._deviations(sets, num_samples, seed)
    priors = self._prior.evaluate(sets, 1)
    return [
        q._replace(samples=q.samples + self._prior_scale * prior.samples,
                   mean=q.mean + self._prior_scale * prior.mean)
        for q, prior in zip(learned, priors)]

  def _mean(self, rows: ensemble_layers.Members) -> tf.Tensor:
    # pylint: disable=protected-access
    return super()._mean(rows) + self._prior_scale * self._prior._mean(rows)
