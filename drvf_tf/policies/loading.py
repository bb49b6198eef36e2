"""Saved policies, loaded again: the one loader of all commands."""
import json
import pathlib
from typing import Any, NamedTuple, Union

import numpy as np
import tensorflow as tf
from tf_agents.policies import policy_saver, py_policy, py_tf_eager_policy
from tf_agents.trajectories import time_step as ts

from drvf_tf import errors
from drvf_tf.policies import exporting

Path = Union[str, pathlib.Path]


class SavedPolicy(NamedTuple):
  """A policy from a SavedModel.

  Attributes:
    policy: On batches of time steps; gives tensors.
    facts: What launch/export.py or a run noted; empty for a policy of others.
  """
  policy: py_policy.PyPolicy
  facts: dict[str, Any]

  def act(self, observations: np.ndarray) -> np.ndarray:
    """Actions `[B, act]` at raw observations `[B, obs]`, memory aside."""
    time_step = ts.restart(tf.constant(observations, tf.float32),
                           batch_size=len(observations))
    return self.policy.action(time_step, ()).action.numpy()

  def answer(self, observation: np.ndarray) -> dict[str, np.ndarray]:
    """The action and all that the policy says of it, for one observation."""
    time_step = ts.restart(tf.constant(observation[np.newaxis], tf.float32),
                           batch_size=1)
    step = self.policy.action(time_step, ())
    info = step.info if isinstance(step.info, dict) else {}
    return {name: value.numpy()[0]
            for name, value in {'action': step.action, **info}.items()}


def load(folder: Path) -> SavedPolicy:
  """Loads a policy.

  Args:
    folder: Written by launch/export.py, by a run, or by TF-Agents'
      `PolicySaver`.

  Returns:
    The policy.

  Raises:
    UserError: There is none, it is damaged, or it is of a later format.
  """
  where = pathlib.Path(folder)
  _check_form(where)
  facts = {}
  if (where / 'assets' / exporting.FACTS).is_file():
    facts = read_facts(folder)
  try:
    policy = py_tf_eager_policy.SavedModelPyTFEagerPolicy(
        str(folder), load_specs_from_pbtxt=True, batch_time_steps=False)
  # Which one is raised depends on which bytes are missing.
  except Exception as error:
    raise _damaged(folder, error) from error
  return SavedPolicy(policy, facts)


def signatures(folder: Path) -> Any:
  """The functions that a SavedModel serves, by name.

  Args:
    folder: What `export_policy` wrote.

  Returns:
    A mapping, as TensorFlow gives it.

  Raises:
    UserError: The folder is damaged.
  """
  try:
    return tf.saved_model.load(str(folder)).signatures
  except Exception as error:  # as in `load`
    raise _damaged(folder, error) from error


def read_facts(folder: Path) -> dict[str, Any]:
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
  except (OSError, ValueError, KeyError, TypeError) as error:
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


def _check_form(folder: pathlib.Path) -> None:
  """A folder that is no saved policy is told before TensorFlow sees it."""
  if not folder.exists():
    raise errors.UserError(
        f'There is nothing at {folder}: name the folder `policy` of a '
        "finished run, or an export's.")
  if not (folder / 'saved_model.pb').is_file():
    raise errors.UserError(
        f'{folder} holds no saved policy (no saved_model.pb): name the folder '
        "`policy` of a finished run, or an export's.")
  if not (folder / policy_saver.POLICY_SPECS_PBTXT).is_file():
    raise errors.UserError(
        f'{folder} is a SavedModel but not a TF-Agents policy (no '
        f'{policy_saver.POLICY_SPECS_PBTXT}): export it with launch/export.py '
        "or TF-Agents' PolicySaver.")


def _damaged(folder: Path, error: Exception) -> errors.UserError:
  reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
  return errors.UserError(
      f'The saved policy {folder} is damaged or not whole '
      f'({reason[:200].rstrip(" .:")}): copy it again, or write it again with '
      'launch/export.py.')
