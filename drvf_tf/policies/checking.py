"""Does an exported policy say what the live agent says?"""
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tf_agents.policies import greedy_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.agents import agent_parts
from drvf_tf.data import offline_dataset
from drvf_tf.losses import backups
from drvf_tf.policies import (
  action_policy,
  reload_check,
  support,
  uncertainty_policy,
)

# Largest difference allowed: absolute for actions; for statistics relative to
# the size of Q, see `_scale`. Float32 with other kernels than the agent's: a
# process that does not import this project has TensorFlow's choice of them.
TOLERANCE = 1e-5


def check(model: str, agent: Any, dataset: offline_dataset.OfflineDataset,
          num_rows: int = 1_000, python: Optional[str] = None,
          has_fallback: bool = False,
          seed: int = 0) -> dict[str, float]:
  """Compares an export with the agent, in a process that knows nothing of us.

  Args:
    model: The SavedModel's folder or the .tflite file.
    agent: What was exported.
    dataset: What the agent was trained on; gives the observations.
    num_rows: Observations to compare.
    python: Interpreter of the process; this one's by default, with this
      project, TF-Agents and TensorFlow Probability made unimportable.
    has_fallback: Where the gate is closed, actions are not the agent's, and
      are not compared.
    seed: Of the choice of rows and of the actions.

  Returns:
    The largest difference of every output.

  Raises:
    UserError: The export cannot be called, or a difference is too large.
  """
  inputs = _inputs(dataset, num_rows, seed)
  found = _stranger(model, inputs, python or sys.executable)
  expected = live(agent, dataset, inputs)
  if has_fallback:
    for answers in (found, expected):
      answers['serving_default/action'] = answers['serving_default/action'][
          found['serving_default/in_support']]
  missing = _signatures(expected) - _signatures(found)
  if missing and not model.endswith('.tflite'):
    raise errors.UserError(
        f'{model} has no {", ".join(sorted(missing))}: export it again.')
  differences = {
      name: _difference(found[name], expected[name], _scale(name, expected))
      for name in sorted(found) if name in expected}
  worst = max(differences, key=lambda name: differences[name])
  if not differences[worst] <= TOLERANCE:
    raise errors.UserError(
        f'{model} differs from the agent by {differences[worst]:.2g} in '
        f'{worst}, more than {TOLERANCE:g}: export it again, and report '
        'it if it stays so.')
  return differences


def live(agent: Any, dataset: offline_dataset.OfflineDataset,
         inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
  """What the agent itself says, by its own policy and its own critic."""
  policy = greedy_policy.GreedyPolicy(agent.policy)
  alpha = None
  if uncertainty_policy.knows_uncertainty(agent):
    alpha = backups.lcb_coefficient(
        agent.critic_network.num_members * agent.num_samples)
  mean, std = dataset.observation_mean, dataset.observation_std

  # In a graph, as in training: op by op, sums are rounded in other places.
  @tf.function(autograph=False)
  def answers(observation, action, seed):
    if mean is not None:
      observation = (observation - mean) / std
    step = ts.restart(observation, len(inputs['observation']))
    greedy = policy.action(step).action
    outcome, _ = agent_parts.acting_network(agent)(observation)
    found = {
        'serving_default/action': greedy,
        'sample_action/action': action_policy.sample(
            outcome, agent.action_spec, seed)}
    if alpha is None:
      return found
    for name, pair in (('serving_default', (observation, greedy)),
                       ('q_stats', (observation, action))):
      stats = agent.critic_network.uncertainty(pair)
      found.update({f'{name}/q_{field}': getattr(stats, field)
                    for field in stats._fields})
      found[f'{name}/q_lcb'] = stats.mean - alpha * stats.std
    return found

  return {name: value.numpy() for name, value in answers(
      **{name: tf.constant(x) for name, x in inputs.items()}).items()}


def _inputs(dataset: offline_dataset.OfflineDataset, num_rows: int,
            seed: int) -> dict[str, np.ndarray]:
  rng = np.random.default_rng(seed)
  rows = rng.integers(dataset.size, size=num_rows)
  size = [num_rows, len(dataset.action_low)]
  return {
      'observation': support.raw_observations(dataset)[rows],
      'action': rng.uniform(dataset.action_low, dataset.action_high,
                            size).astype(np.float32),
      'seed': np.array([seed, 1], np.int32),
  }


def _stranger(model: str, inputs: dict[str, np.ndarray],
              python: str) -> dict[str, np.ndarray]:
  """The export's answers, from a process of its own."""
  with tempfile.TemporaryDirectory() as scratch:
    paths = [pathlib.Path(scratch) / name for name in ('in.npz', 'out.npz')]
    np.savez(paths[0], **inputs)
    done = subprocess.run(
        [python, '-I', reload_check.__file__, model, *map(str, paths)],
        capture_output=True, text=True, check=False,
        env={**os.environ, 'CUDA_VISIBLE_DEVICES': '',
             'TF_CPP_MIN_LOG_LEVEL': '2'})
    if done.returncode:
      raise _not_called(model, python, done.stderr)
    with np.load(paths[1]) as answers:
      return dict(answers)


def _not_called(model: str, python: str, said: str) -> errors.UserError:
  last = (said.strip().splitlines() or ['nothing was said'])[-1]
  # Whoever got as far as an error of another kind has TensorFlow.
  if not said.strip() or last.startswith(('ModuleNotFound', 'ImportError')):
    return errors.UserError(
        f'{python} cannot load {model} ({last}): it needs TensorFlow, or '
        'for a .tflite file tflite-runtime.')
  return errors.UserError(
      f'{model} cannot be called ({last[:200]}): it is damaged or not whole, '
      'export it again.')


def _signatures(answers: dict[str, np.ndarray]) -> set[str]:
  return {name.split('/')[0] for name in answers}


def _scale(name: str, expected: dict[str, np.ndarray]) -> np.ndarray:
  signature, output = name.split('/')
  if output == 'action':
    return np.ones([])
  mean = expected[f'{signature}/q_mean']
  spread = expected[f'{signature}/q_std']
  if output == 'q_lcb':  # α·std, which was subtracted: it is rounded too
    spread = np.maximum(spread, mean - expected[name])
  size = np.abs(mean) + spread
  # Q is a sum of terms that may cancel: where it is near 0 by chance, it is
  # rounded as coarsely as in other rows.
  return np.maximum(np.maximum(1.0, size), np.mean(size))


def _difference(found: np.ndarray, expected: np.ndarray,
                scale: np.ndarray) -> float:
  return float(np.max(np.abs(found - expected) / scale, initial=0.0))
