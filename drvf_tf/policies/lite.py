"""From an exported SavedModel to a .tflite file, for boards."""
import pathlib

import tensorflow as tf

from drvf_tf.policies import loading

# Those of them that the export has. `sample_action` is not among them: TFLite
# has no stateless random numbers.
SIGNATURES = ('serving_default', 'q_stats')
FILE = 'policy.tflite'


def convert(saved_model: str) -> bytes:
  """A float32 model of built-in ops only: the interpreter alone runs it.

  Args:
    saved_model: What `export_policy` wrote.

  Returns:
    The content of a .tflite file, with the same signatures and names.
  """
  there = loading.signatures(saved_model)
  converter = tf.lite.TFLiteConverter.from_saved_model(
      str(saved_model),
      signature_keys=[name for name in SIGNATURES if name in there])
  converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
  return converter.convert()


def write(saved_model: str, folder: str) -> pathlib.Path:
  """Writes the .tflite file and the export's assets to a folder."""
  content = convert(saved_model)
  target = pathlib.Path(folder)
  target.mkdir(parents=True, exist_ok=True)
  for asset in (pathlib.Path(saved_model) / 'assets').iterdir():
    (target / asset.name).write_bytes(asset.read_bytes())
  path = target / FILE
  path.write_bytes(content)
  return path
