"""Quiet, single-threaded TensorFlow with two logical devices for all tests."""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import drvf_tf  # noqa: E402, F401, I001  # before TensorFlow: see its __init__
import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402

# Networks in tests are small: more threads only get in each other's way.
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

# Two logical CPUs, so that distribution strategies have replicas to run on.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0],
    [tf.config.LogicalDeviceConfiguration()] * 2)


@pytest.fixture(autouse=True)
def _clean_gin():
  import gin
  gin.clear_config()
  yield
  gin.clear_config()
