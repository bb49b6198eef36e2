"""What things cost: a train step, a served answer, an environment's step.

  python launch/benchmark.py --samples=5 --ood_actions=10 --batch=256
  python launch/benchmark.py --peers=torch_members,jax_vmap --candidate=drvf
  python launch/benchmark.py --peers=jax_vmap --candidate=drvf_xla --width=128
  python launch/benchmark.py --check --layer_norm=off --layer_norm=on
  python launch/benchmark.py --methods=pbrl_10,sac_n_10,edac_10,drvf_3,drvf_5
  python launch/benchmark.py --methods=edac_10,edac_50 --peers=torch_edac
  python launch/benchmark.py --methods=drvf,rebrac,atac --gin_file=gin/cpu.gin
  python launch/benchmark.py --suite=forms --layers=2 --layer_norm=on
  python launch/benchmark.py --suite=growth --out=growth.png
  python launch/benchmark.py --suite=startup --gin_file=gin/quickstart.gin
  python launch/benchmark.py --suite=evaluation
  python launch/benchmark.py --suite=latency
  python launch/benchmark.py --suite=envs
"""
import contextlib
import os
import pathlib
import sys
import tempfile
from typing import TYPE_CHECKING

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from absl import flags  # noqa: E402

from drvf_tf import errors  # noqa: E402

# What imports TensorFlow is imported after the flags are known to make sense.
if TYPE_CHECKING:
  from drvf_tf.benchmark import peer_check, step_cost

_CANDIDATES = ('drvf', 'naive', 'sac')  # functions of `step_cost`
_XLA = 'drvf_xla'  # another, with gin/xla.gin's settings

FLAGS = flags.FLAGS
flags.DEFINE_enum(
    'suite', 'step',
    ['step', 'forms', 'growth', 'startup', 'evaluation', 'latency', 'envs'],
    "step: a train step, beside the naive form and TF-Agents' SAC; forms: "
    'member by member and stacked, at several widths and M; growth: the '
    'step at other sizes; startup: from the command to the first step; '
    'evaluation: episodes while training; latency: a served answer beside the '
    "bare actor; envs: our tasks beside gymnasium's.")
flags.DEFINE_multi_enum(
    'candidate', list(_CANDIDATES), [*_CANDIDATES, _XLA],
    'What to time; the first is what the others are compared with. drvf_xla: '
    'as gin/xla.gin trains.')
flags.DEFINE_list(
    'peers', [], 'The same step in other frameworks, timed beside ours: '
    'torch_members, torch_baddbmm, jax_members, jax_vmap; torch_edac beside '
    'the EDAC of --methods; needs `make peers`.')
flags.DEFINE_string('peer_python', None, 'Interpreter that has the frameworks '
                    'of the peers; that of `make peers`.')
flags.DEFINE_bool('check', False, 'Compares three small steps of the peers '
                  'with ours instead of timing them.')
flags.DEFINE_list(
    'methods', [], "Times whole methods instead, as in the paper's cost table: "
    'pbrl_10, sac_n_10, sac_n_20, sac_n_500, edac_10, edac_50, drvf_3, drvf_5; '
    'or any file of gin/baselines, at its own size on halfcheetah-medium.')
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
flags.DEFINE_integer('threads', 1, 'Threads, pinned to as many cores.', 1)
flags.DEFINE_integer('rounds', 7, 'Turns of each candidate.', 1)
flags.DEFINE_string('out', None, 'The picture that --suite=growth draws.')
flags.DEFINE_multi_string(
    'gin_file', [], 'What --suite=startup starts, gin/quickstart.gin by '
    'default; or overlays of all --methods.')
flags.DEFINE_multi_string('gin_param', [], 'Bindings over them.')


def _sizes(samples: int, layer_norm: bool) -> 'step_cost.Sizes':
  from drvf_tf.benchmark import step_cost
  return step_cost.Sizes(
      members=FLAGS.members, samples=samples, ood_actions=FLAGS.ood_actions,
      ood_states=FLAGS.ood_states or FLAGS.batch, batch=FLAGS.batch,
      observation=FLAGS.observation, action=FLAGS.action,
      hidden=(FLAGS.width,) * FLAGS.layers, layer_norm=layer_norm)


def _latency(sizes: 'step_cost.Sizes') -> None:
  from drvf_tf.benchmark import latency, step_cost
  print(f'{sizes}, {FLAGS.threads} thread(s)')
  print(latency.table(latency.measure(step_cost.agent(sizes))))


def _envs(sizes: 'step_cost.Sizes') -> None:
  del sizes
  from drvf_tf.benchmark import physics
  physics.run()


def _forms(sizes: 'step_cost.Sizes') -> None:
  from drvf_tf.benchmark import form_cost
  print(f'{sizes}, {FLAGS.threads} thread(s), {FLAGS.rounds} rounds')
  print(form_cost.table(form_cost.measure(
      sizes, form_cost.WIDTHS, form_cost.MEMBERS, FLAGS.rounds)))


def _growth(sizes: 'step_cost.Sizes') -> None:
  from drvf_tf import figures
  from drvf_tf.benchmark import growth
  points = growth.measure(sizes, FLAGS.rounds)
  print(f'{sizes}, {FLAGS.threads} thread(s), {FLAGS.rounds} rounds')
  print(growth.table(points))
  if FLAGS.out:
    png, _ = figures.encode(growth.picture(points, sizes))
    pathlib.Path(FLAGS.out).write_bytes(png)
    print(f'The picture is {FLAGS.out}.')


def _startup(sizes: 'step_cost.Sizes') -> None:
  del sizes
  from drvf_tf.benchmark import start_up
  for _ in range(FLAGS.rounds):
    found = start_up.measure(FLAGS.gin_file or ['gin/quickstart.gin'],
                             FLAGS.gin_param)
    print(f'first step after {found.seconds:.1f} s ({found.cpu_seconds:.1f} s '
          f'of CPU time); memory {found.memory / 2**20:.0f} MiB, at most '
          f'{found.peak / 2**20:.0f} MiB', flush=True)


def _evaluation(sizes: 'step_cost.Sizes') -> None:
  import drvf_tf.envs  # noqa: F401
  from drvf_tf.benchmark import evaluation_cost, step_cost, timing
  candidate = step_cost.drvf(sizes)
  costs = timing.interleave([candidate], rounds=3)[candidate.name]
  step = sorted(cost.wall for cost in costs)[1]
  print(f'{sizes}: {1e3 * step:.1f} ms a train step; {FLAGS.threads} '
        'process(es) for episodes')
  print(evaluation_cost.table(
      evaluation_cost.measure(sizes.hidden, FLAGS.threads), step))


def _step(sizes: 'step_cost.Sizes') -> None:
  from drvf_tf.benchmark import peers, step_cost, timing
  with contextlib.ExitStack() as stack:
    candidates = []
    for samples in FLAGS.samples:
      for norm in FLAGS.layer_norm:
        sizes = _sizes(samples, norm == 'on')
        suffix = f' n={samples}' + (' LN' if norm == 'on' else '')
        for name in dict.fromkeys(FLAGS.candidate):
          if name == 'sac' and any('SAC' in c.name for c in candidates):
            continue
          candidate = getattr(step_cost, name)(sizes)
          candidate.name += '' if name == 'sac' else suffix
          candidates.append(candidate)
        if FLAGS.peers:
          started = peers.candidates(
              FLAGS.peers, sizes, _peer_python(), FLAGS.threads, stack)
          for candidate in started:
            candidate.name += suffix
          candidates += started
    candidates.append(step_cost.gemm(sizes))
    print(f'{sizes}, {FLAGS.threads} thread(s), {FLAGS.rounds} rounds')
    print(timing.table(candidates,
                       timing.interleave(candidates, FLAGS.rounds)))


def _peer_python() -> str:
  from drvf_tf.benchmark import peers
  return FLAGS.peer_python or str(peers.PYTHON)


def _check() -> None:
  from drvf_tf.benchmark import peer_check, peers
  names = FLAGS.peers or (*peers.NAMES, peers.EDAC)
  of_drvf = [name for name in names if name != peers.EDAC]
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    for norm in FLAGS.layer_norm if of_drvf else ():
      _show(f'DRVF, LayerNorm {norm}', peer_check.check(
          of_drvf, _peer_python(), folder, norm == 'on'))
    if peers.EDAC in names:
      _show('EDAC', peer_check.check_edac(_peer_python(), folder))


def _show(title: str,
          differences: 'dict[str, peer_check.Difference]') -> None:
  from drvf_tf.benchmark import peer_check
  print(f'{title}:\n{peer_check.table(differences)}')
  if not all(map(peer_check.agrees, differences.values())):
    sys.exit('A peer does not compute what we compute.')


_SUITES = {'step': _step, 'forms': _forms, 'growth': _growth,
           'startup': _startup, 'evaluation': _evaluation,
           'latency': _latency, 'envs': _envs}


def main(argv):
  """Runs the suite."""
  if argv[1:]:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: choose what to time with --suite=...')
  import tensorflow as tf

  from drvf_tf.benchmark import peers
  tf.get_logger().setLevel('ERROR')  # many graphs of one function are meant
  tf.config.threading.set_intra_op_parallelism_threads(FLAGS.threads)
  tf.config.threading.set_inter_op_parallelism_threads(FLAGS.threads)
  if hasattr(os, 'sched_setaffinity'):  # peers inherit it
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-FLAGS.threads:])
  if _XLA in FLAGS.candidate:  # XLA hears it before it first compiles
    from drvf_tf.runs import runtime
    runtime.configure_runtime(xla_fast_math=True)
  peers.check_names(FLAGS.peers)
  if FLAGS.check:
    _check()
    return
  peers.check_belong(FLAGS.peers, to_methods=bool(FLAGS.methods))
  if FLAGS.methods:
    import drvf_tf.envs  # noqa: F401
    from drvf_tf.benchmark import method_cost
    print(method_cost.run(
        FLAGS.methods, FLAGS.rounds, FLAGS.gin_file, FLAGS.gin_param,
        _peer_python() if FLAGS.peers else None, FLAGS.threads))
    return
  _SUITES[FLAGS.suite](_sizes(FLAGS.samples[0], FLAGS.layer_norm[0] == 'on'))


if __name__ == '__main__':
  errors.run(main)
