r"""Fine-tunes an offline run's agent in its task: the posterior explores.

python launch/finetune.py --run=runs/quickstart/seed0
python launch/finetune.py --run=runs/quickstart/seed0 \
  --gin_param="OnlineBatches.policy=@optimistic" \
  --gin_param="ONLINE_STEPS=10_000"
python launch/finetune.py --show=runs/quickstart/seed0_posterior \
  --show=runs/quickstart/seed0_optimistic --out=finetuned
"""
import os
import pathlib
import sys
from collections.abc import Sequence

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402

_RUN = flags.DEFINE_string(
    'run', None, 'Folder of the offline run; nothing is written to it.')
_GIN_FILE = flags.DEFINE_multi_string(
    'gin_file', [], "A gin file over the run's configuration and "
    'gin/finetune.gin; may be repeated, later ones win.')
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], 'A gin binding; may be repeated, wins over the files.')
_SEED = flags.DEFINE_integer(
    'seed', None, "Binds train_eval.seed; the run's own by default.")
_OUT = flags.DEFINE_string(
    'out', None, 'Folder of the fine-tuning, which is resumed if it holds one; '
    '<run>_<policy> by default. With --show, of the picture.')
_SHOW = flags.DEFINE_multi_string(
    'show', [], 'A fine-tuning to draw and to tabulate, instead of --run; may '
    'be repeated.')


def main(argv: Sequence[str]) -> None:
  """Reads the flags and fine-tunes, or draws."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a run with --run=...')
  if bool(_RUN.value) == bool(_SHOW.value):
    raise errors.UserError(
        'Which run? Give --run=<run folder> to fine-tune it, or '
        '--show=<fine-tuning> to draw one.')
  if _SHOW.value:
    _show()
    return
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.WARNING)
  import drvf_tf.envs  # noqa: F401  before TensorFlow: it silences gym
  from drvf_tf.finetune import configuring
  from drvf_tf.train import train_eval
  bindings = list(_GIN_PARAM.value)
  if _SEED.value is not None:
    bindings.append(f'train_eval.seed={_SEED.value}')
  folder = configuring.configure(
      _RUN.value, _OUT.value, _GIN_FILE.value, bindings)
  try:
    train_eval.train_eval(str(folder))
  except errors.Interrupted as error:
    print(errors.plain(error), file=sys.stderr)
    sys.exit(error.exit_code)
  except KeyboardInterrupt:  # before the first step, or after the last
    print('Stopped: the same command resumes from the last checkpoint.',
          file=sys.stderr)
    sys.exit(130)


def _show() -> None:
  from drvf_tf.finetune import page
  numbers = page.make(_SHOW.value)
  print(page.table(numbers))
  for path in page.write(numbers, pathlib.Path(_OUT.value or _SHOW.value[0])):
    print(f'written: {path}')


if __name__ == '__main__':
  errors.run(main)
