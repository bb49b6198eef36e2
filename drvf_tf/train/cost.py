"""What a training costs, noted in run.json."""
import time
from typing import Any

import tensorflow as tf

from drvf_tf.train import methods


class Meter:
  """Measures from its creation on."""

  def __init__(self) -> None:
    self._seconds = time.monotonic()
    self._cpu_seconds = time.process_time()

  def facts(self, agent: Any, steps: int) -> dict[str, Any]:
    """What was spent since, for run.json.

    Args:
      agent: That was trained.
      steps: Train steps since.

    Returns:
      Time by the clock and of this process's threads (the processes that play
      episodes are not in it), the size of the networks, and the GPUs.
    """
    return {
        'steps': steps,
        'seconds': round(time.monotonic() - self._seconds, 3),
        'cpu_seconds': round(time.process_time() - self._cpu_seconds, 3),
        'parameters': methods.parameters(agent),
        'gpus': [tf.config.experimental.get_device_details(gpu).get(
            'device_name', 'GPU') for gpu in tf.config.get_visible_devices(
                'GPU')],
    }
