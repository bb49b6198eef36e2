"""The runs of a plan: their folders and their commands."""
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drvf_tf import project_files
from drvf_tf.runs import gin_files
from drvf_tf.sweep import plan as plan_lib


class Cell(NamedTuple):
  """One run: an ordinary run folder, and the ordinary command that fills it."""
  task: str
  method: str
  seed: int
  run_dir: pathlib.Path
  command: tuple[str, ...]

  @property
  def name(self) -> str:
    """For people."""
    return f'{self.task} {self.method} seed {self.seed}'

  @property
  def arguments(self) -> tuple[str, ...]:
    """Of launch/train.py."""
    return self.command[2:]


def product(plan: plan_lib.Plan, out: pathlib.Path,
            cpus_per_run: int) -> list[Cell]:
  """Every run of a plan, first seeds first.

  Args:
    plan: What to run.
    out: Folder of the sweep.
    cpus_per_run: Threads of each kind and evaluation processes of a run; a
      binding of the plan wins over them.

  Returns:
    One cell for each seed, task and method, in this order: every method has a
    score on every task before any gets its second seed.
  """
  limits = (f'configure_runtime.intra_op_threads={cpus_per_run}',
            f'configure_runtime.inter_op_threads={cpus_per_run}',
            f'Evaluation.num_workers={cpus_per_run}')
  found = []
  for seed in plan.seeds:
    for task in plan.tasks:
      for method, files in plan.methods.items():
        name = pathlib.Path(task).stem
        run_dir = out / name / method / f'seed{seed}'
        bindings = (*limits, *filter(plan_lib.is_binding, files),
                    *plan.bindings, f'train_eval.seed={seed}')
        found.append(Cell(name, method, seed, run_dir, (
            sys.executable, str(project_files.launcher('train')),
            f'--gin_file={task}',
            *(f'--gin_file={file}' for file in _of_method(files, task)),
            *(f'--gin_file={file}' for file in plan.gin_files),
            *(f'--gin_param={binding}' for binding in bindings),
            f'--run={run_dir}')))
  return found


def _of_method(files: Sequence[str], task: str) -> Iterator[str]:
  """The gin files of a method for the gin file of a task."""
  for file in files:
    if plan_lib.is_binding(file):
      continue
    if file.endswith('.gin'):
      yield for_task(file, pathlib.Path(task).stem)
    else:
      found = gin_files.of_method(file, task)
      if found:
        yield found


def for_task(file: str, task: str) -> str:
  """A method's file, or its own for the task where there is one.

  Args:
    file: Of a method, e.g. gin/baselines/edac.gin.
    task: Name of the task, e.g. hopper_medium.

  Returns:
    A file such as gin/baselines/edac/hopper_medium.gin if it exists, which is
    to include what it refines; else `file`.
  """
  own = pathlib.Path(file).with_suffix('') / f'{task}.gin'
  return str(own) if (project_files.ROOT / own).is_file() else file
