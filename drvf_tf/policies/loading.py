"""Exported policies, loaded again."""
import json
import pathlib
from typing import Any, Dict

import numpy as np
import tensorflow as tf
from tf_agents.policies import policy_loader, py_tf_eager_policy

from drvf_tf import errors
from drvf_tf.policies import exporting


def load_policy(folder: str) -> py_tf_eager_policy.SavedModelPyTFEagerPolicy:
  """An exported policy, for TF-Agents' drivers.

  Args:
    folder: What `export_policy` wrote.

  Returns:
    The policy; its `action(time_step).info` holds the statistics.

  Raises:
    UserError: The folder holds no policy, or one of a later format.
  """
  read_facts(folder)
  return policy_loader.load(str(folder))


def read_facts(folder: str) -> Dict[str, Any]:
  """The content of an export's export.json.

  Args:
    folder: What `export_policy` wrote.

  Returns:
    Where the policy comes from, and what its uncertainty is on data.

  Raises:
    UserError: The folder holds no policy, or one of a later format.
  """
  path = pathlib.Path(folder) / 'assets' / exporting.FACTS
  try:
    facts = json.loads(path.read_text(encoding='utf-8'))
    version = int(facts['format'])
  except (OSError, ValueError, KeyError) as error:
    raise errors.UserError(
        f'{folder} holds no exported policy ({path.name} cannot be read): '
        'write one with launch/export.py --run=<run folder> --out=<folder>.'
    ) from error
  if version > exporting.FORMAT:
    written_by = facts.get('versions', {}).get('drvf_tf', 'a later version')
    raise errors.UserError(
        f'{folder} has format {version}, written by drvf_tf {written_by}; this '
        f'version reads formats up to {exporting.FORMAT}: upgrade drvf_tf, or '
        "call the SavedModel's serving_default, which needs no drvf_tf.")
  return facts


class Actor:
  """An exported policy as a function of batches: `[B, obs]` to `[B, act]`."""

  def __init__(self, folder: str):
    """Loads the policy.

    Args:
      folder: What `export_policy` wrote.
    """
    self.facts = read_facts(folder)
    self._model = tf.saved_model.load(str(folder))

  def __call__(self, observations: np.ndarray) -> np.ndarray:
    """Greedy actions, gate and fallback included, at raw observations."""
    return self._model.signatures['serving_default'](
        observation=tf.constant(observations, tf.float32))['action'].numpy()
