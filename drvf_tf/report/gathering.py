"""Many run folders in: the runs to report, and what is left out."""
import os
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from drvf_tf.runs import finished, run_reader


class Refusal(NamedTuple):
  """A folder that is left out, and why."""
  path: pathlib.Path
  reason: str


def gather(paths: Sequence[str]) -> tuple[list[finished.Run], list[Refusal]]:
  """Reads run folders.

  Args:
    paths: Run folders, or folders to search for them.

  Returns:
    Finished runs, no two alike, in the order of task, method and seed; and
    what was left out. Of two that are alike the one named first counts.
  """
  found: list[finished.Run] = []
  refused: list[Refusal] = []
  seen: set[str] = set()  # a folder counts once, though named in two ways
  for path in map(pathlib.Path, paths):
    folders = list(run_reader.search(path))
    if not folders:
      refused.append(Refusal(path, _why_empty(path)))
    for folder in folders:
      if os.path.realpath(folder) in seen:
        continue
      seen.add(os.path.realpath(folder))
      try:
        found.append(finished.read(folder))
      except finished.Unusable as reason:
        refused.append(Refusal(folder, str(reason)))
  found.sort(key=lambda run: (run.task, run.method, run.seed))
  kept: dict[tuple[Any, ...], finished.Run] = {}
  for run in found:
    first = kept.setdefault((*run.identity, run.seed), run)
    if first is not run:
      same = 'the same' if _same(first, run) else 'other'
      refused.append(Refusal(run.path, (
          f'duplicate of {first.path}: same task, method, seed, settings and '
          f'data, with {same} returns')))
  return list(kept.values()), refused


def _why_empty(path: pathlib.Path) -> str:
  if not path.exists():
    return 'there is no such folder'
  if not path.is_dir():
    return 'not a folder'
  return f'no run in it: there is no {run_reader.FACTS} here or below'


def _same(one: finished.Run, other: finished.Run) -> bool:
  return np.array_equal(one.final.returns, other.final.returns) and all(
      np.array_equal(a.returns, b.returns)
      for a, b in zip(one.evaluations, other.evaluations))
