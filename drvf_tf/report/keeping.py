"""Records of runs without their networks: what a report reads, and no more.

A run folder is large and does not live for ever; what its numbers were
computed from is a few kilobytes. A folder of records is a folder of runs to
every reader of reports.
"""
import json
import pathlib
import re
import shutil
from collections.abc import Sequence

from drvf_tf import errors
from drvf_tf.report import commands
from drvf_tf.runs import finished as runs_lib
from drvf_tf.runs import run_reader


def keep(runs: Sequence[runs_lib.Run], folder: pathlib.Path) -> int:
  """Copies the records of runs that are not in a folder yet.

  Args:
    runs: As `gathering.gather` gives them: no two are alike, so that what the
      folder holds already has to be gathered with them, and first.
    folder: Where records are kept, `<task>/<method>/<number>-seed<seed>`.

  Returns:
    How many were copied.
  """
  inside = folder.resolve()
  new = [run for run in runs if inside not in run.path.resolve().parents]
  try:
    for run in new:
      _copy(run, _free_place(folder / run.task / _slug(run.method), run.seed))
  except OSError as error:
    raise errors.UserError(
        f'{folder} cannot be written ({error.strerror}): name another folder '
        'with --keep.') from error
  return len(new)


def _free_place(folder: pathlib.Path, seed: int) -> pathlib.Path:
  """Another configuration of the same name and seed has another number."""
  number = 0
  while (folder / f'{number}-seed{seed}').exists():
    number += 1
  return folder / f'{number}-seed{seed}'


def _copy(run: runs_lib.Run, place: pathlib.Path) -> None:
  """The record appears when it is whole: run.json, its mark, comes last."""
  source, target = (run_reader.RunReader(path) for path in (run.path, place))
  place.mkdir(parents=True)
  shutil.copyfile(source.config_file, target.config_file)
  target.evaluations_file.write_text(''.join(
      json.dumps(row) + '\n' for row in source.evaluations()),
      encoding='utf-8')
  # Where the folder was is of no use to anyone else.
  facts = {**source.read_facts(), 'dataset': run.dataset,
           'command': commands.without(run.command, ('run', 'run_dir'))}
  partial = target.facts_file.with_suffix('.part')
  partial.write_text(json.dumps(facts, indent=1) + '\n', encoding='utf-8')
  partial.rename(target.facts_file)


def _slug(name: str) -> str:
  return re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')
