"""A step gives the same numbers in every process, to the last bit.

TensorFlow's AddN sums into whichever of its inputs nobody else holds any more,
which two runs of one program may answer differently; of three or more inputs
the order, and so the last bit, is then a matter of chance, and training
amplifies it. Gradients of what is used three times are summed so. What DRVF
and the ensembles below are made of uses nothing more than twice.
"""
import gin
import pytest
import tensorflow as tf

from drvf_tf.runs import configuration
from tests import fakes

_SMALL = ['EnsembleCriticNetwork.hidden_units=(8, 8)',
          'EnsembleCriticNetwork.num_members=3',
          'tanh_gaussian_actor.hidden_units=(8, 8)']


@pytest.mark.parametrize('files', [
    ['gin/quickstart.gin'],
    ['gin/hopper_medium.gin'],
    ['gin/halfcheetah_medium.gin'],
    ['gin/antmaze_umaze.gin'],
    ['gin/hopper_medium.gin', 'gin/paper.gin'],
    ['gin/hopper_medium.gin', 'gin/baselines/edac.gin'],
    ['gin/hopper_medium.gin', 'gin/baselines/pbrl.gin'],
    ['gin/hopper_medium.gin', 'gin/baselines/msg.gin'],
], ids=' '.join)
def test_no_sum_of_more_than_two(files):
  gin.clear_config()
  configuration.parse(files, _SMALL)
  agent = gin.get_bindings('train_eval')['agent'](
      fakes.TIME_STEP_SPEC, fakes.ACTION_SPEC, num_batches=10.0, seed=0,
      train_step_counter=tf.Variable(0, dtype=tf.int64, trainable=False))
  step = tf.function(agent.train, autograph=False)
  graph = step.get_concrete_function(fakes.transition()).graph
  sums = [op for op in graph.get_operations() if op.type == 'AddN']
  assert sums  # the sums of gradients are called so
  assert all(len(op.inputs) == 2 for op in sums), sums
