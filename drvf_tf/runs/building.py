"""An agent from what gin binds for the training loop: built here alone."""
from typing import Any, Callable, Optional

import gin
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.train.utils import train_utils

from drvf_tf.data import offline_dataset


def agent(make: Callable[..., Any], time_step_spec: Any, action_spec: Any,
          num_batches: float, seed: int,
          step: Optional[tf.Variable] = None) -> Any:
  """Builds an agent.

  Args:
    make: `train_eval.agent`.
    time_step_spec: Of the task.
    action_spec: Of the task.
    num_batches: Batches in the data.
    seed: Of initial weights and noise.
    step: Counts train steps; the agent's own by default.

  Returns:
    The agent.
  """
  return make(
      tensor_spec.from_spec(time_step_spec), tensor_spec.from_spec(action_spec),
      num_batches=num_batches, seed=seed, train_step_counter=step)


def for_dataset(make: Callable[..., Any],
                dataset: offline_dataset.OfflineDataset, batch_size: int,
                seed: int) -> tuple[Any, tf.Variable]:
  """Builds the agent of a run.

  Args:
    make: `train_eval.agent`.
    dataset: What it is trained on.
    batch_size: Transitions in a batch.
    seed: Of the run.

  Returns:
    The agent and its train step.
  """
  step = train_utils.create_train_step()
  return agent(make, dataset.time_step_spec, dataset.action_spec,
               dataset.size / batch_size, seed, step), step


def from_gin() -> tuple[Any, offline_dataset.OfflineDataset, tf.Variable]:
  """The agent, the data and the train step that `train_eval` would build."""
  bindings = gin.get_bindings('train_eval')
  dataset = bindings['dataset']()
  built, step = for_dataset(
      bindings['agent'], dataset, bindings['batch_size'], bindings['seed'])
  return built, dataset, step
