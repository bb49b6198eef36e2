"""Evaluates a finished run, or any SavedModel policy of TF-Agents.

python launch/evaluate.py --run=runs/quickstart/seed0 --episodes=100
python launch/evaluate.py --policy=exported
python launch/evaluate.py --policy=any/saved_model --task=hopper-medium-v2
python launch/evaluate.py --run=runs/own_data/seed0 --offline  # no simulator
"""
import json
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from absl import flags, logging

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
_ROOT = pathlib.Path(__file__).parents[1]
if (_ROOT / 'drvf_tf').is_dir():  # a checkout, which need not be installed
  sys.path.insert(0, str(_ROOT))

from drvf_tf import errors  # noqa: E402
from drvf_tf.runs import run_reader  # noqa: E402

_RUN = flags.DEFINE_string('run', None, 'Folder of a finished run.')
_POLICY = flags.DEFINE_string(
    'policy', None, 'A SavedModel policy, instead of a run.')
_TASK = flags.DEFINE_string(
    'task', None, "A D4RL task; the run's or the export's own by default.")
_EPISODES = flags.DEFINE_integer(
    'episodes', 100, 'Number of episodes.', lower_bound=1)
_SEED = flags.DEFINE_integer('seed', 0, 'Of the episodes.', lower_bound=0)
_OUT = flags.DEFINE_string(
    'out', None, 'JSON file; <run>/evaluation.json for a run.')
_OFFLINE = flags.DEFINE_bool(
    'offline', False, 'Estimate what the policy of --run is worth from its '
    'data alone: no simulator.')
_CHECKPOINT = flags.DEFINE_string(
    'checkpoint', 'last', 'With --offline: last, best, or a step.')
_DISCOUNT = flags.DEFINE_float(
    'discount', None, "With --offline: of the value; the agent's own by "
    'default.', lower_bound=0.01, upper_bound=0.9999)
_GIN_PARAM = flags.DEFINE_multi_string(
    'gin_param', [], "With --offline: a gin binding on top of the run's "
    'configuration, e.g. FittedQEvaluation.num_steps=20000.')
_VIDEO = flags.DEFINE_string(
    'video', None, 'Write the first episode as a film: .gif or .mp4, with '
    'q_std and the gate below the picture where the policy knows them.')
_VIDEO_STEPS = flags.DEFINE_integer(
    'video_steps', None, 'Steps of the episode in the video; all by default.',
    lower_bound=1)


def main(argv: Sequence[str]) -> None:
  """Reads the flags and evaluates."""
  if len(argv) > 1:
    raise errors.UserError(
        f'{argv[1]!r} is not a flag: name a run with --run=...')
  if not flags.FLAGS['verbosity'].present:
    logging.set_verbosity(logging.ERROR)
  if _VIDEO.value and not _VIDEO.value.endswith(('.gif', '.mp4')):
    raise errors.UserError(
        f'--video={_VIDEO.value} must end in .gif or .mp4: those are what can '
        'be written.')
  if _OFFLINE.value:
    _evaluate_offline()
    return
  folder, task_name, output = _what()
  import drvf_tf.envs  # noqa: F401  before TensorFlow: it silences gym
  from drvf_tf.policies import loading
  from drvf_tf.train import film, saved_policy
  if _VIDEO.value and _VIDEO.value.endswith('.mp4'):
    film.find_ffmpeg()  # said now, not after the episodes
  policy = loading.load(folder)
  task = _task(task_name or _task_of(folder, policy.facts))
  result = {'policy': str(folder), **saved_policy.evaluate(
      policy.act, task, _EPISODES.value, _SEED.value)}
  _show(result)
  if output is not None:
    _write(output, result)
  if _VIDEO.value:
    film.film(policy.answer, task, _SEED.value, pathlib.Path(_VIDEO.value),
              _VIDEO_STEPS.value, _threshold(policy.facts))
    print(f'video            {_VIDEO.value}')


def _evaluate_offline() -> None:
  """What data alone say of a run's policy."""
  if not _RUN.value or _POLICY.value or _VIDEO.value:
    raise errors.UserError(
        '--offline needs the data and the critic of a run: name it with '
        '--run, without --policy and --video.')
  from drvf_tf.ope import estimates, run_estimates
  from drvf_tf.runs import restoring
  run = restoring.restore(_RUN.value, _CHECKPOINT.value, _GIN_PARAM.value)
  result = run_estimates.evaluate(run, _RUN.value, _DISCOUNT.value)
  print(f'{result["method"]}, step {result["step"]:,}, on {result["rows"]:,} '
        f'rows in {result["episodes"]:,} episodes of {result["data"]}\n')
  print(estimates.table([estimates.Estimate(**one)
                         for one in result['estimates']], result['gamma']))
  _write(pathlib.Path(_OUT.value) if _OUT.value else run_reader.RunReader(
      pathlib.Path(_RUN.value)).offline_file, result)


def _what() -> tuple[pathlib.Path, Optional[str], Any]:
  """(SavedModel, task where it is told, output) from the flags."""
  if bool(_RUN.value) == bool(_POLICY.value):
    raise errors.UserError(
        'Evaluate what? Name either --run or --policy.')
  output = pathlib.Path(_OUT.value) if _OUT.value else None
  if _POLICY.value:
    return pathlib.Path(_POLICY.value), _TASK.value, output
  run = run_reader.RunReader(pathlib.Path(_RUN.value))
  facts = run.read_facts()
  if not run.policy_folder.is_dir():
    raise errors.UserError(
        f'The run {run.path} is not finished and has no policy yet: let it '
        'finish with the command that started it.')
  return (run.policy_folder, _TASK.value or facts['task'],
          output or run.path / 'evaluation.json')


def _task(name: str) -> Any:
  from drvf_tf.train import tasks
  try:
    return tasks.D4rlTask(name)
  except errors.UserError as error:
    raise errors.UserError(
        f'{error} Without a simulator, --run=<run> --offline asks the data.'
    ) from error


def _threshold(facts: Mapping[str, Any]) -> Optional[float]:
  return (facts.get('support') or {}).get('gate_threshold')


def _task_of(folder: pathlib.Path, facts: Mapping[str, Any]) -> str:
  """The task that an export names."""
  task = facts.get('task')
  if task is None:
    raise errors.UserError(
        f'{folder} does not say its task, since launch/export.py did not write '
        'it: name the task with --task=...')
  return task


def _show(result: dict[str, Any]) -> None:
  low, high = result['score_ci95']
  print(f'task             {result["task"]}')
  print(f'episodes         {result["episodes"]}')
  print(f'normalised score {result["score"]:.1f}  (95 % interval of the mean '
        f'{low:.1f} to {high:.1f})')
  print(f'mean return      {result["mean_return"]:.2f}')


def _write(path: pathlib.Path, result: dict[str, Any]) -> None:
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + '\n', encoding='utf-8')
  except OSError as error:
    raise errors.UserError(
        f'{path} cannot be written ({error.strerror}): name another file with '
        '--out.') from error
  print(f'JSON             {path}')


if __name__ == '__main__':
  errors.run(main)
