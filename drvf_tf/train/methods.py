"""The agents of gin files, and their sizes."""
from collections.abc import Sequence
from typing import Any

import gin
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts

from drvf_tf.runs import building, catalogue, configuration

# Sizes of halfcheetah and walker2d: the paper counts parameters there.
_OBSERVATION, _ACTION = 17, 6
_TASK = 'gin/walker2d_medium.gin'


def agent_of(files: Sequence[str], bindings: Sequence[str] = (),
             observation: int = _OBSERVATION, action: int = _ACTION) -> Any:
  """The agent that the training loop would build from gin files.

  Args:
    files: gin files, a task's first.
    bindings: gin bindings on top.
    observation: Size of an observation.
    action: Size of an action.

  Returns:
    The agent. gin holds its configuration now.
  """
  gin.clear_config()
  configuration.parse(files, bindings)
  return building.agent(
      gin.get_bindings('train_eval')['agent'],
      ts.time_step_spec(tensor_spec.TensorSpec([observation], tf.float32)),
      tensor_spec.BoundedTensorSpec([action], tf.float32, -1.0, 1.0),
      num_batches=1_000.0, seed=0)


def parameters(agent: Any) -> int:
  """Weights of all networks, targets included, as the paper counts them."""
  # The rest are single numbers: the train step, the temperature.
  return sum(v.shape.num_elements() for v in agent.variables if v.shape.rank)


def sizes() -> dict[str, int]:
  """Parameters of every method on walker2d-medium, by its name."""
  return {
      method.name: parameters(agent_of(
          [_TASK, *([method.gin_file] if method.gin_file else [])]))
      for method in catalogue.methods()}
