"""Calls an exported policy as a stranger would; run by its path, alone.

  python -I reload_check.py <SavedModel folder or .tflite file> <inputs.npz> \
    <outputs.npz>

It imports nothing of this project, and forbids itself to: what it needs is
TensorFlow alone, or for a .tflite file the interpreter alone.
"""
import sys
from collections.abc import Mapping
from typing import Any, Callable

_FORBIDDEN = ('drvf_tf', 'tf_agents', 'tensorflow_probability', 'gin', 'gym')

Arrays = dict[str, Any]


def saved_model(path: str) -> dict[str, Callable[..., Arrays]]:
  """The signatures of a SavedModel, on arrays."""
  import tensorflow as tf
  model = tf.saved_model.load(path)

  def on_arrays(function):
    return lambda **inputs: {
        name: value.numpy() for name, value in function(
            **{name: tf.constant(x) for name, x in inputs.items()}).items()}

  # A policy without an ensemble critic has no q_stats.
  return {name: on_arrays(model.signatures[name])
          for name in ('serving_default', 'q_stats', 'sample_action')
          if name in model.signatures}


def tflite(path: str) -> dict[str, Callable[..., Arrays]]:
  """The signatures of a .tflite file, on arrays."""
  try:
    from tflite_runtime.interpreter import Interpreter
  except ImportError:
    import tensorflow as tf
    Interpreter = tf.lite.Interpreter
  interpreter = Interpreter(model_path=path)
  return {name: interpreter.get_signature_runner(name)
          for name in interpreter.get_signature_list()}


def answers(functions: Mapping[str, Callable[..., Arrays]],
            inputs: Mapping[str, Any]) -> Arrays:
  """What every signature says to the same inputs, as `signature/output`."""
  observation = inputs['observation']
  asked = {
      'serving_default': {'observation': observation},
      'q_stats': {'observation': observation, 'action': inputs['action']},
      'sample_action': {'observation': observation, 'seed': inputs['seed']},
  }
  return {f'{name}/{key}': value for name, function in functions.items()
          for key, value in function(**asked[name]).items()}


def main(model: str, inputs: str, outputs: str) -> None:
  """Loads, calls, writes."""
  for name in _FORBIDDEN:
    sys.modules[name] = None  # type: ignore[assignment]
  import numpy as np
  load = tflite if model.endswith('.tflite') else saved_model
  with np.load(inputs) as arrays:
    np.savez(outputs, **answers(load(model), arrays))


if __name__ == '__main__':
  main(*sys.argv[1:])
