"""From an agent to a SavedModel that any TensorFlow process can call."""
import datetime
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any, Optional, Union

import tensorflow as tf
from absl import logging
from tf_agents.policies import policy_saver

from drvf_tf import errors, versions
from drvf_tf.data import offline_dataset
from drvf_tf.policies import action_policy, fallbacks, gated_policy, support
from drvf_tf.policies import uncertainty_policy as uncertainty_lib

Policy = Union[action_policy.ActionPolicy, gated_policy.GatedPolicy]

# What `loading.load` of this version reads; raised when a reader must change.
FORMAT = 1
FACTS = 'export.json'
CONFIG = 'config.gin'


def export_policy(
    agent: Any,
    out: str,
    dataset: Optional[offline_dataset.OfflineDataset] = None,
    held_out: Optional[offline_dataset.OfflineDataset] = None,
    gate_quantile: float = 0.99,
    fallback: Optional[fallbacks.Fallback] = None,
    config: str = '',
    facts: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
  """Writes an agent's greedy policy, its statistics and its gate.

  An agent without an ensemble critic has neither statistics nor a gate: its
  export gives actions, and export.json says why nothing else.

  Args:
    agent: An agent with an actor network.
    out: The folder to write; it must not exist.
    dataset: What the agent was trained on: gives the normalisation and, where
      no rows were held out, the gate's threshold. Without it the gate is
      always open.
    held_out: Rows to measure q_std on; the dataset's own held-out episodes by
      default.
    gate_quantile: The gate closes above this quantile of q_std.
    fallback: What acts where the gate is closed; the policy itself by default.
    config: The operative gin configuration.
    facts: More of what export.json shall hold.

  Returns:
    The content of export.json.
  """
  folder = pathlib.Path(out)
  check_free(folder)
  if uncertainty_lib.knows_uncertainty(agent):
    policy, about = _gated(agent, dataset, held_out, gate_quantile, fallback)
  else:
    policy, about = _plain(agent, dataset, held_out, fallback)
  report = {
      'format': FORMAT,
      'written': datetime.datetime.now(datetime.timezone.utc).isoformat(
          timespec='seconds'),
      'agent': type(agent).__name__,
      'train_step': int(agent.train_step_counter.numpy()),
      'dataset': dataset and {
          'name': dataset.name, 'provenance': dataset.provenance,
          'sha256': dataset.hash(), 'size': dataset.size,
          'normalised': dataset.observation_mean is not None},
      **about,
      'versions': versions.installed(),
      **(facts or {}),
  }
  _write(policy, agent.train_step_counter, folder,
         {FACTS: json.dumps(report, indent=2) + '\n', CONFIG: config})
  return report


def check_free(folder: pathlib.Path) -> None:
  """Refuses a folder that holds something."""
  if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
    raise errors.UserError(
        f'{folder} exists already: delete it, or choose another --out.')


def signatures(policy: Policy) -> dict[str, Any]:
  """The functions on plain tensors; the batch is unknown in all of them."""
  if isinstance(policy, gated_policy.GatedPolicy):
    observation, action = policy.inner.batched_specs()

    @_function(observation)
    def serving_default(observation):
      found = policy.act(observation)
      return {name: found[name] for name in
              ('action', 'q_mean', 'q_std', 'q_lcb', 'in_support')}

    @_function(observation, action)
    def q_stats(observation, action):
      return policy.score(observation, action)

    return {**_action_signatures(policy.inner), 'q_stats': q_stats,
            'serving_default': serving_default}
  return _action_signatures(policy)


def _action_signatures(policy: action_policy.ActionPolicy) -> dict[str, Any]:
  observation, _ = policy.batched_specs()

  @_function(observation)
  def serving_default(observation):
    return {'action': policy.greedy(observation)}

  @_function(observation, tf.TensorSpec([2], tf.int32, 'seed'))
  def sample_action(observation, seed):
    return {'action': policy.sample(observation, seed)}

  return {'serving_default': serving_default, 'sample_action': sample_action}


def _function(*specs: tf.TensorSpec) -> Any:
  # A wrong size must be an error, not a broadcast: signatures check types.
  def checked(call):
    def wrapped(*inputs):
      return call(*(tf.ensure_shape(value, spec.shape)
                    for value, spec in zip(inputs, specs)))
    return tf.function(wrapped, input_signature=specs, autograph=False)
  return checked


def _gated(agent: Any, dataset: Optional[offline_dataset.OfflineDataset],
           held_out: Optional[offline_dataset.OfflineDataset],
           gate_quantile: float, fallback: Optional[fallbacks.Fallback]
           ) -> tuple[Policy, dict[str, Any]]:
  """The policy of an ensemble agent, and what export.json says of it."""
  inner = uncertainty_lib.of_agent(agent, dataset)
  threshold, found = float('inf'), None
  if dataset is not None:
    rows, description = _rows(dataset, held_out)
    threshold, found = support.measure(
        inner, rows, description, gate_quantile)
  return gated_policy.GatedPolicy(inner, threshold, fallback), {
      'lcb_alpha': inner.lcb_alpha,
      'support': found,
      'fallback': type(fallback).__name__ if fallback else None}


def _plain(agent: Any, dataset: Optional[offline_dataset.OfflineDataset],
           held_out: Optional[offline_dataset.OfflineDataset],
           fallback: Optional[fallbacks.Fallback]
           ) -> tuple[Policy, dict[str, Any]]:
  """The policy of any other agent, and what export.json says of it."""
  reason = (f'{type(agent).__name__} has no ensemble critic, so its policy '
            'has no q_std to measure and no gate')
  if fallback is not None or held_out is not None:
    raise errors.UserError(
        f'{reason}: export it without a fallback and without held-out rows.')
  return action_policy.of_agent(agent, dataset), {
      'lcb_alpha': None, 'support': None, 'fallback': None,
      'no_statistics': f'{reason}.'}


def _write(policy: Policy, train_step: tf.Variable,
           folder: pathlib.Path, assets: Mapping[str, str]) -> None:
  """Writes the folder whole or not at all."""
  folder.parent.mkdir(parents=True, exist_ok=True)
  # Its own copy of the step: the agent's may belong to a strategy.
  step = tf.Variable(train_step.numpy(), trainable=False, dtype=tf.int64)
  temporary = folder.with_name(f'.{folder.name}.new')
  shutil.rmtree(temporary, ignore_errors=True)
  with tempfile.TemporaryDirectory() as scratch:
    verbosity = logging.get_verbosity()
    # That the policy has no distribution, and that Keras' own calling
    # conventions are not saved, is as it should be.
    logging.set_verbosity(logging.ERROR)
    try:
      saver = policy_saver.PolicySaver(
          policy, batch_size=None, train_step=step)
      saver.signatures.update(signatures(policy))
      saver.policy.assets = [
          _asset(pathlib.Path(scratch) / name, text)
          for name, text in assets.items()]
      saver.save(str(temporary))
    finally:
      logging.set_verbosity(verbosity)
  if folder.exists():
    folder.rmdir()  # empty, or this raises
  os.rename(temporary, folder)


def _asset(path: pathlib.Path, text: str) -> tf.saved_model.Asset:
  path.write_text(text, encoding='utf-8')
  return tf.saved_model.Asset(str(path))


def _rows(dataset: offline_dataset.OfflineDataset,
          held_out: Optional[offline_dataset.OfflineDataset]
          ) -> tuple[offline_dataset.OfflineDataset, str]:
  """The rows to measure on, and what they are."""
  if held_out is not None:
    return held_out, f'held out: {held_out.provenance}'
  if dataset.held_out is not None:
    return dataset.held_out, 'held out: episodes set aside before training'
  return dataset, 'training rows: none were held out'
