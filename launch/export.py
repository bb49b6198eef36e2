"""Writes a run's policy for deployment: a SavedModel, or a .tflite file.

python launch/export.py --run=runs/quickstart/seed0 --out=exported --check
"""
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402

_RUN = flags.DEFINE_string('run', None, 'The run folder.')
_CHECKPOINT = flags.DEFINE_string(
    'checkpoint', 'last', 'last, best, or the step of a checkpoint.')
_OUT = flags.DEFINE_string('out', None, 'The folder to write.')
_FORMAT = flags.DEFINE_enum(
    'format', 'saved_model', ['saved_model', 'tflite'], 'What to write.')
_GATE_QUANTILE = flags.DEFINE_float(
    'gate_quantile', 0.99, 'in_support is false where q_std is above this '
    "quantile of the data's.")
_FALLBACK = flags.DEFINE_string(
    'fallback', 'none', 'What acts where in_support is false: none (the '
    'policy itself), bc (behaviour cloning, trained now), or constant:0,0.')
_HELD_OUT = flags.DEFINE_string(
    'held_out', None, 'Data that were not trained on, to measure q_std: a '
    'file, a task or minari:<id>. By default the episodes that the run held '
    'out, else its training data.')
_CHECK = flags.DEFINE_bool(
    'check', False, 'Reload the result in a clean process and compare it with '
    'the agent.')
_CHECK_PYTHON = flags.DEFINE_string(
    'check_python', None, 'Interpreter of that process, e.g. of a virtual '
    'environment with nothing but tensorflow-cpu.')
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], "A gin binding on top of the run's configuration, e.g. "
    'BehaviourCloning.num_steps=10000.')


def main(argv: Sequence[str]) -> None:
  """Restores, exports, checks, reports."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a run with --run=...')
  if not _RUN.value or not _OUT.value:
    raise errors.UserError(
        'Which run, and where to? Give --run=<run folder> --out=<folder>.')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.WARNING)
  from drvf_tf.policies import exporting
  from drvf_tf.runs import restoring
  exporting.check_free(pathlib.Path(_OUT.value))
  run = restoring.restore(_RUN.value, _CHECKPOINT.value, _GIN_PARAM.value)
  if _FORMAT.value == 'tflite':
    from drvf_tf.policies import lite
    with tempfile.TemporaryDirectory() as scratch:
      report = _export(run, f'{scratch}/policy')
      written = str(lite.write(f'{scratch}/policy', _OUT.value))
  else:
    report = _export(run, _OUT.value)
    written = _OUT.value
  print(report.get('no_statistics')
        or json.dumps(report['support'], indent=2))
  print(f'Wrote {written}: step {run.step:,} of {_RUN.value}.')
  from drvf_tf.report import model_card
  beside = pathlib.Path(written)
  print('Model card: ' + str(model_card.write(
      run, _RUN.value, report, beside if beside.is_dir() else beside.parent)))
  if _CHECK.value or _CHECK_PYTHON.value:
    _check(run, written)


def _export(run: Any, out: str) -> Any:
  from drvf_tf.data import loading
  from drvf_tf.policies import exporting, fallbacks
  held_out = None
  if _HELD_OUT.value:
    from drvf_tf.ope import run_estimates
    held_out = loading.read(
        _HELD_OUT.value, run_estimates.data_settings().get('task'))
  return exporting.export_policy(
      run.agent, out, run.dataset, held_out, _GATE_QUANTILE.value,
      fallbacks.parse(_FALLBACK.value, run.dataset), run.config,
      {'task': run.facts['task'], 'seed': run.facts['seed'],
       'trained_with': run.facts['versions'],
       'git_commit': run.facts['git_commit']})


def _check(run: Any, written: str) -> None:
  from drvf_tf.policies import checking
  differences = checking.check(
      written, run.agent, run.dataset, python=_CHECK_PYTHON.value,
      has_fallback=_FALLBACK.value != 'none')
  for name, difference in differences.items():
    print(f'{name:32}{difference:9.1e}')
  print(f'Checked: 1,000 rows, largest difference '
        f'{max(differences.values()):.1e}.')


if __name__ == '__main__':
  errors.run(main)
