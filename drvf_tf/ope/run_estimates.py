"""From a run folder to what its policy is worth, without a simulator."""
import pathlib
from typing import Any, Optional

import gin

from drvf_tf import errors
from drvf_tf.data import loading, offline_dataset
from drvf_tf.dynamics import model_files, terminations
from drvf_tf.ope import estimates, own_critic
from drvf_tf.runs import restoring, run_reader

_GAMMA = 0.99  # where an agent has no values, as BC


def evaluate(run: restoring.RestoredRun, folder: str,
             gamma: Optional[float] = None,
             evaluation: Optional[estimates.OfflineEvaluation] = None
             ) -> dict[str, Any]:
  """All estimates of a restored run.

  Args:
    run: With its configuration in gin.
    folder: Its run folder, for the dynamics model.
    gamma: γ; the agent's own by default, or that of `evaluation`.
    evaluation: Of the same data; a new one by default.

  Returns:
    The numbers in JSON's terms; `estimates` is `estimates.to_json`'s.
  """
  if evaluation is None:
    evaluation = estimates.OfflineEvaluation(
        recorded(run), discount(run, gamma))
  policy = policy_of(run, folder)
  found = evaluation(policy)
  return {
      'run': folder, 'task': run.facts['task'],
      'method': run.facts.get('method', type(run.agent).__name__),
      'seed': run.facts['seed'], 'step': run.step,
      'data': evaluation.rows.provenance, 'gamma': evaluation.gamma,
      'episodes': evaluation.rows.num_episodes,
      'rows': evaluation.rows.size,
      'estimates': estimates.to_json(found)}


def discount(run: restoring.RestoredRun,
             asked: Optional[float] = None) -> float:
  """γ of a value: as asked for, else the agent's own."""
  return asked or getattr(run.agent, 'gamma', None) or _GAMMA


def policy_of(run: restoring.RestoredRun, folder: str) -> estimates.Policy:
  """What is evaluated of a run: its policy, its critic, its model."""
  critic = own_critic.OwnCritic(run.agent, run.dataset)
  fitted = model_files.load(
      run_reader.RunReader(pathlib.Path(folder)).dynamics_folder)
  if fitted is None:
    return estimates.Policy(critic, run.dataset)
  bound = gin.get_bindings('ModelBatches')
  return estimates.Policy(critic, run.dataset, fitted.model,
                          bound.get('termination', terminations.never))


def recorded(run: restoring.RestoredRun) -> offline_dataset.OfflineDataset:
  """The data of a run before any transform: what was recorded."""
  if 'source' not in data_settings():
    raise errors.UserError(
        f'The data of this run ({run.dataset.provenance}) are not from '
        'loading.load, so that what was recorded is not known: train with '
        'train_eval.dataset = @loading.load.')
  return loading.read(**data_settings())


def data_settings() -> dict[str, Any]:
  """What gin says of the data before any transform, as `read` takes it."""
  bound = gin.get_bindings('loading.load')
  return {name: bound[name] for name in
          ('source', 'task', 'generate', 'require_reward', 'action_bounds')
          if name in bound}
