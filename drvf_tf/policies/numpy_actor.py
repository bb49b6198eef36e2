"""The greedy tanh-Gaussian actor in NumPy, for processes without TensorFlow."""
import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class NumpyActor(NamedTuple):
  """ReLU layers, a linear mean, and tanh to the action bounds.

  Attributes:
    layers: (kernel `[in, out]`, bias `[out]`); the last gives the mean.
    centre: Middle of the action bounds, `[act]`.
    radius: Half the width of the action bounds, `[act]`.
    observation_mean: What the actor's observations were shifted by, `[obs]`.
    observation_std: What they were divided by, `[obs]`.
  """
  layers: Sequence[tuple[np.ndarray, np.ndarray]]
  centre: np.ndarray
  radius: np.ndarray
  observation_mean: np.ndarray
  observation_std: np.ndarray

  def __call__(self, observation: np.ndarray) -> np.ndarray:
    """The greedy action at a raw observation, `[obs]` to `[act]`."""
    x = (observation - self.observation_mean) / self.observation_std
    *hidden, (kernel, bias) = self.layers
    for hidden_kernel, hidden_bias in hidden:
      x = np.maximum(x @ hidden_kernel + hidden_bias, 0.0)
    return np.tanh(x @ kernel + bias) * self.radius + self.centre

  def to_json(self) -> list[dict[str, Any]]:
    """Its arrays in JSON's terms, exactly."""
    arrays = [*self[1:], *(array for layer in self.layers for array in layer)]
    return [{'shape': array.shape,
             'float32': base64.b64encode(
                 np.asarray(array, np.float32).tobytes()).decode()}
            for array in arrays]

  @classmethod
  def from_json(cls, content: Sequence[dict[str, Any]]) -> 'NumpyActor':
    """The actor that `to_json` described."""
    arrays = [
        np.frombuffer(base64.b64decode(item['float32']),
                      np.float32).reshape(item['shape']) for item in content]
    others, layers = arrays[:4], arrays[4:]
    return cls(list(zip(layers[::2], layers[1::2])), *others)
