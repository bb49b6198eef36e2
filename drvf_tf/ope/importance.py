"""Importance sampling: pure functions of arrays, one row for each episode.

Arrays are `[E, T]`: episodes, steps. What is shorter than T is padded with
rewards 0 and ratios 1: after its last row an episode stands still, worth 0. Log
ratios are log π(a_t|s_t) − log μ(a_t|s_t), π the policy to evaluate, μ the one
that recorded. Counts `[B, E]` say how often each episode is in each of B
bootstrap samples.
"""
from typing import Optional

import numpy as np


def importance_sampling(rewards: np.ndarray, log_ratios: np.ndarray,
                        gamma: float) -> float:
  """(1/E) Σ_e Σ_t γ^t w_t r_t, w_t = Π_{k≤t} π(a_k|s_k) / μ(a_k|s_k).

  Args:
    rewards: `[E, T]`.
    log_ratios: `[E, T]`.
    gamma: γ.

  Returns:
    The per-decision estimate, unbiased; its variance may have no bound.
  """
  weights = np.exp(np.cumsum(log_ratios, axis=1))
  return float(np.mean((weights * rewards) @ _powers(gamma, rewards.shape[1])))


def weighted_importance_sampling(rewards: np.ndarray, log_ratios: np.ndarray,
                                 gamma: float,
                                 counts: Optional[np.ndarray] = None
                                 ) -> np.ndarray:
  """Σ_t γ^t Σ_e w_t r_t / Σ_e w_t: biased, and bounded by the rewards.

  Args:
    rewards: `[E, T]`.
    log_ratios: `[E, T]`.
    gamma: γ.
    counts: `[B, E]`; every episode once by default.

  Returns:
    `[B]`.
  """
  counts, weights = _samples(log_ratios, counts)
  means = (counts @ (weights * rewards)) / (counts @ weights)  # [B, T]
  return means @ _powers(gamma, rewards.shape[1])


def weighted_doubly_robust(rewards: np.ndarray, log_ratios: np.ndarray,
                           q: np.ndarray, v: np.ndarray, gamma: float,
                           counts: Optional[np.ndarray] = None) -> np.ndarray:
  """Σ_t γ^t [ Σ_e w̄_t (r_t − Q(s_t, a_t)) + Σ_e w̄_{t−1} V(s_t) ].

  w̄_t = w_t / Σ_e w_t, w̄_{−1} = 1/E: a model of values corrected by what was
  recorded, where the weights trust the record.

  Args:
    rewards: `[E, T]`.
    log_ratios: `[E, T]`.
    q: Q(s_t, a_t), `[E, T]`, 0 after the last row.
    v: V(s_t), `[E, T + 1]`: one past the last row is what follows it, 0 where
      the task ended there; 0 after that.
    gamma: γ.
    counts: `[B, E]`; every episode once by default.

  Returns:
    `[B]`.
  """
  counts, weights = _samples(log_ratios, counts)
  before = np.concatenate([np.ones([len(weights), 1]), weights], axis=1)
  corrections = (counts @ (weights * (rewards - q))) / (counts @ weights)
  values = (counts @ (before * v)) / (counts @ before)  # [B, T + 1]
  powers = _powers(gamma, v.shape[1])
  return corrections @ powers[:-1] + values @ powers


def effective_sample_size(log_weights: np.ndarray) -> float:
  """(Σ_e w_e)² / Σ_e w_e²: E where all weigh the same, 1 where one does all.

  Args:
    log_weights: Of whole episodes, `[E]`.
  """
  weights = np.exp(log_weights - np.max(log_weights))
  return float(np.sum(weights)**2 / np.sum(np.square(weights)))


def bootstrap_counts(episodes: int, samples: int, seed: int) -> np.ndarray:
  """How often each episode is drawn, with replacement, `[B, E]`."""
  return np.random.default_rng(seed).multinomial(
      episodes, np.full(episodes, 1 / episodes), size=samples).astype(
          np.float64)


def interval(values: np.ndarray) -> tuple[float, float]:
  """The middle 95 % of bootstrap estimates."""
  low, high = np.percentile(values, [2.5, 97.5])
  return float(low), float(high)


def _samples(log_ratios: np.ndarray, counts: Optional[np.ndarray]
             ) -> tuple[np.ndarray, np.ndarray]:
  """Counts `[B, E]` and weights `[E, T]`, each step's up to a factor."""
  logs = np.cumsum(log_ratios, axis=1)
  weights = np.exp(logs - logs.max(axis=0))
  if counts is None:
    counts = np.ones([1, len(weights)])
  # A sample may miss all episodes that weigh anything.
  return counts, np.maximum(weights, 1e-300)


def _powers(gamma: float, steps: int) -> np.ndarray:
  return gamma ** np.arange(steps)
