"""What things cost: a train step, a served answer, an environment's step.

  python launch/benchmark.py --samples=5 --ood_actions=10 --batch=256
  python launch/benchmark.py --methods=pbrl_10,sac_n_10,edac_10,drvf_3,drvf_5
  python launch/benchmark.py --suite=latency
  python launch/benchmark.py --suite=envs
"""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')

import tensorflow as tf  # noqa: E402
from absl import flags  # noqa: E402

from drvf_tf import user_errors  # noqa: E402
from drvf_tf.analysis import step_cost, timing  # noqa: E402

_CANDIDATES = {
    'drvf': step_cost.drvf,
    'naive': step_cost.naive,
    'sac': step_cost.sac,
}

FLAGS = flags.FLAGS
flags.DEFINE_enum(
    'suite', 'step', ['step', 'latency', 'envs'],
    "step: a train step, beside the naive form and TF-Agents' SAC; latency: a "
    "served answer beside the bare actor; envs: our tasks beside gymnasium's.")
flags.DEFINE_multi_enum(
    'candidate', list(_CANDIDATES), list(_CANDIDATES),
    'What to time; the first is what the others are compared with.')
flags.DEFINE_list(
    'methods', [], "Times whole methods instead, as in the paper's cost table: "
    'pbrl_10, sac_n_10, sac_n_20, sac_n_500, edac_10, edac_50, drvf_3, drvf_5.')
flags.DEFINE_integer('members', 5, 'M, critics in the ensemble.', 1)
flags.DEFINE_multi_integer(
    'samples', [5], 'n, posterior draws; several give one DRVF line each.', 1)
flags.DEFINE_integer('ood_actions', 10, 'K, OOD actions per state.', 1)
flags.DEFINE_integer('ood_states', None, 'States with OOD actions; all.', 1)
flags.DEFINE_integer('batch', 256, 'B, rows of a batch.', 1)
flags.DEFINE_integer('observation', 17, 'Size of an observation.', 1)
flags.DEFINE_integer('action', 6, 'Size of an action.', 1)
flags.DEFINE_integer('width', 256, 'Width of a hidden layer.', 1)
flags.DEFINE_integer('layers', 3, 'Number of hidden layers.', 1)
flags.DEFINE_multi_enum('layer_norm', ['off'], ['off', 'on'],
                        'Layer normalisation; both give one line each.')
flags.DEFINE_integer('threads', 1, 'TensorFlow threads; 1 is pinned.', 1)
flags.DEFINE_integer('rounds', 7, 'Turns of each candidate.', 1)


def _sizes(samples: int, layer_norm: bool) -> step_cost.Sizes:
  return step_cost.Sizes(
      members=FLAGS.members, samples=samples, ood_actions=FLAGS.ood_actions,
      ood_states=FLAGS.ood_states or FLAGS.batch, batch=FLAGS.batch,
      observation=FLAGS.observation, action=FLAGS.action,
      hidden=(FLAGS.width,) * FLAGS.layers, layer_norm=layer_norm)


def _latency(sizes: step_cost.Sizes) -> None:
  from drvf_tf.policies import latency
  print(f'{sizes}, {FLAGS.threads} thread(s)')
  print(latency.table(latency.measure(step_cost.agent(sizes))))


def _envs(sizes: step_cost.Sizes) -> None:
  del sizes
  from drvf_tf.envs import benchmark
  benchmark.run()


def _step(sizes: step_cost.Sizes) -> None:
  candidates = []
  for samples in FLAGS.samples:
    for norm in FLAGS.layer_norm:
      sizes = _sizes(samples, norm == 'on')
      suffix = f' n={samples}' + (' LN' if norm == 'on' else '')
      for name in FLAGS.candidate:
        if name == 'sac' and any('SAC' in c.name for c in candidates):
          continue
        candidate = _CANDIDATES[name](sizes)
        candidate.name += '' if name == 'sac' else suffix
        candidates.append(candidate)
  candidates.append(step_cost.gemm(sizes))
  print(f'{sizes}, {FLAGS.threads} thread(s), {FLAGS.rounds} rounds')
  costs = timing.interleave(candidates, FLAGS.rounds)
  print(timing.table(candidates, costs))


_SUITES = {'step': _step, 'latency': _latency, 'envs': _envs}


def main(argv):
  """Runs the suite."""
  if argv[1:]:
    raise user_errors.UserError(f'unknown argument {argv[1]!r}.')
  tf.config.threading.set_intra_op_parallelism_threads(FLAGS.threads)
  tf.config.threading.set_inter_op_parallelism_threads(FLAGS.threads)
  if FLAGS.threads == 1 and hasattr(os, 'sched_setaffinity'):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
  if FLAGS.methods:
    import drvf_tf.envs  # noqa: F401
    from drvf_tf.analysis import method_cost
    print(method_cost.run(FLAGS.methods, FLAGS.rounds))
    return
  _SUITES[FLAGS.suite](_sizes(FLAGS.samples[0], FLAGS.layer_norm[0] == 'on'))


if __name__ == '__main__':
  user_errors.run(main)
