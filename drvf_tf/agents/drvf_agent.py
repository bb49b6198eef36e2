"""DRVF: Diverse Randomized Value Functions, in the paper's names."""
from typing import Any, Optional

import gin
from tf_agents.networks import network
from tf_agents.trajectories import time_step as ts
from tf_agents.typing import types

from drvf_tf.agents import ensemble_sac_agent
from drvf_tf.losses import backups, ood_actions, regularizers, terms


@gin.configurable
class DRVFAgent(ensemble_sac_agent.EnsembleSacAgent):
  """Algorithm 1: Bayesian heads, min backup, KL and repulsion."""

  def __init__(self,
               time_step_spec: ts.TimeStep,
               action_spec: types.NestedTensorSpec,
               critic_network: network.Network,
               actor_network: network.Network,
               actor_optimizer: types.Optimizer,
               critic_optimizer: types.Optimizer,
               alpha_optimizer: types.Optimizer,
               num_batches: float,
               eta_q: float = 1.0,
               eta_ood: float = 1.0,
               num_samples: int = 10,
               num_ood_actions: int = 10,
               ood_batch_size: Optional[int] = None,
               backup: backups.Backup = backups.minimum,
               repulsion: terms.Spread = terms.per_member_std,
               ood_source: ood_actions.Source = ood_actions.from_policy,
               kl_scale: terms.KlScale = terms.kl_per_batch,
               **kwargs: Any):
    """Creates the agent.

    Args:
      time_step_spec: Of the environment.
      action_spec: One bounded, continuous action vector.
      critic_network: An `EnsembleCriticNetwork` with a `BayesianHead`.
      actor_network: Observations to a tanh-Gaussian.
      actor_optimizer: Of the actor.
      critic_optimizer: Of the critic.
      alpha_optimizer: Of the temperature.
      num_batches: |D| / B, for the scale of the KL.
      eta_q: η_q of Eq. (16).
      eta_ood: η_ood of Eq. (16).
      num_samples: n, posterior draws per member.
      num_ood_actions: K, OOD actions per state.
      ood_batch_size: States of the batch used in Eq. (15); None for all.
      backup: `backups.minimum`, or `backups.independent_minimum` (AntMaze).
      repulsion: `terms.per_member_std`, or `terms.pooled_std`, which one
        member can satisfy alone; see docs/methods.md.
      ood_source: Where OOD actions come from.
      kl_scale: Scale of the KL inside η_q.
      **kwargs: Of `EnsembleSacAgent`.
    """
    if eta_q < 0:
      raise ValueError(f'eta_q must not be negative, not {eta_q}.')
    parts = (
        regularizers.KlDivergence(eta_q, kl_scale),
        regularizers.Repulsion(eta_ood, num_ood_actions, repulsion, ood_source,
                               ood_batch_size),
        regularizers.WeightDecay(),
    )
    super().__init__(
        time_step_spec, action_spec, critic_network, actor_network,
        actor_optimizer, critic_optimizer, alpha_optimizer,
        num_batches=num_batches, backup=backup, regularizers=parts,
        td_weight=eta_q, num_samples=num_samples, **kwargs)
