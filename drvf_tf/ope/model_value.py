"""The value of a policy in a run's dynamics model."""
from typing import Callable

import numpy as np
import tensorflow as tf

from drvf_tf.data import offline_dataset
from drvf_tf.dynamics import dynamics_ensemble, terminations
from drvf_tf.ope import fitted_q


def model_values(model: dynamics_ensemble.DynamicsEnsemble,
                 rows: offline_dataset.OfflineDataset,
                 act: fitted_q.Act,
                 gamma: float,
                 horizon: int,
                 termination: terminations.Termination = terminations.never,
                 max_starts: int = 100,
                 seed: int = 0) -> np.ndarray:
  """V_e = mean over s_0 of Σ_{t<H} γ^t r_t, elite e's own world, `[elites]`.

  States and rewards are kept within what the data have: a model that is
  rolled out for long may leave them for nowhere.

  Args:
    model: Of the run.
    rows: What it was fitted to, as the run has it.
    act: The policy, on raw observations.
    gamma: γ.
    horizon: H.
    termination: Of raw observations.
    max_starts: How many first states of episodes are rolled out from.
    seed: Of the choice of them and of every draw.

  Returns:
    One value for each elite, in the units of `rows.rewards`.
  """
  rng = np.random.default_rng(seed)
  starts = rows.initial_rows()
  starts = rng.choice(starts, min(max_starts, len(starts)), replace=False)
  elites = model.elites.numpy()
  low, high = rows.observations.min(axis=0), rows.observations.max(axis=0)
  least, most = float(rows.rewards.min()), float(rows.rewards.max())
  # Elite by elite, every start.
  states = np.tile(rows.observations[starts], [len(elites), 1])
  own = np.repeat(elites, len(starts))
  index = np.arange(len(states))
  predict = tf.function(model.predict, autograph=False)
  alive, total = np.ones(len(states)), np.zeros(len(states))
  raw = _raw(rows)
  for step in range(horizon):
    prediction = predict(tf.constant(states), tf.constant(act(raw(states))))
    mean, std = (part.numpy()[own, index] for part in prediction)
    drawn = mean + std * rng.normal(size=mean.shape)
    total += gamma**step * alive * np.clip(drawn[:, -1], least, most)
    states = np.clip(states + drawn[:, :-1], low, high).astype(np.float32)
    alive *= 1.0 - termination(tf.constant(raw(states))).numpy()
    if not alive.any():
      break
  return total.reshape(len(elites), -1).mean(axis=1)


def _raw(rows: offline_dataset.OfflineDataset
         ) -> Callable[[np.ndarray], np.ndarray]:
  mean, std = rows.observation_mean, rows.observation_std
  if mean is None or std is None:
    return lambda states: states
  return lambda states: (states * std + mean).astype(np.float32)
