"""TF-Agents specs of a task: one form for environments and datasets."""
from typing import Any

import numpy as np
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts


def observation_spec(size: int) -> array_spec.ArraySpec:
  """A flat float32 observation."""
  return array_spec.ArraySpec((size,), np.float32, 'observation')


def action_spec(low: Any, high: Any) -> array_spec.BoundedArraySpec:
  """A flat float32 action between its bounds."""
  low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
  return array_spec.BoundedArraySpec(
      low.shape, np.float32, low, high, 'action')


def time_step_spec(observation_size: int) -> ts.TimeStep:
  """The time step of a task with flat observations."""
  return ts.time_step_spec(observation_spec(observation_size))

