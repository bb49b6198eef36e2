"""One run folder in, one `Run` out, or the reason why not."""
import dataclasses
import pathlib
import re
from typing import Any

import numpy as np

from drvf_tf import errors
from drvf_tf.runs import cost_record, run_reader, settings

# Data that are not D4RL's own say which of these they are, in parentheses.
ORIGINS = ('regenerated', 'generated', 'collected')
_ORIGIN = re.compile(rf'\(({"|".join(ORIGINS)})\b')


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
  """One evaluation, from the raw returns of its episodes.

  Attributes:
    step: Train steps before it.
    returns: Of its episodes.
    scores: D4RL's normalised scores of the same episodes.
  """
  step: int
  returns: np.ndarray
  scores: np.ndarray

  @property
  def score(self) -> float:
    """The mean score."""
    return float(np.mean(self.scores))


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
  """A finished run.

  Attributes:
    path: Its folder.
    task: The task's name.
    method: The method's name.
    seed: Of the run.
    num_steps: Train steps.
    bindings: All of its config.gin.
    dataset: Where the data come from, in words.
    dataset_hash: The identity of the data.
    dataset_size: Rows.
    evaluations: Those during training, in order.
    final: The one after the last step.
    command: The command line that trained it.
    commit: Of the code; may be empty.
    cost: Of the run.
  """
  path: pathlib.Path
  task: str
  method: str
  seed: int
  num_steps: int
  bindings: dict[str, str]
  dataset: str
  dataset_hash: str
  dataset_size: int
  evaluations: tuple[Evaluation, ...]
  final: Evaluation
  command: tuple[str, ...]
  commit: str
  cost: cost_record.Cost

  @property
  def origin(self) -> str:
    """The kind of data in a few words, for captions."""
    kind = _ORIGIN.search(self.dataset)
    if kind is None:
      return f'{self.dataset}, origin not noted in the file'
    return ('generated' if kind.group(1) == 'collected' else kind.group(1)
           ) + ', not D4RL'

  def with_origin(self, kind: str) -> 'Run':
    """The run with its data noted as one of `ORIGINS`, if they are not yet."""
    if _ORIGIN.search(self.dataset):
      return self
    return dataclasses.replace(
        self, dataset=f'{self.dataset} ({kind}, not D4RL)')

  @property
  def identity(self) -> tuple[Any, ...]:
    """What two runs share that are one and the same but for the seed."""
    return (self.task, self.method, self.dataset_hash, tuple(sorted(
        settings.that_matter(self.bindings).items())))


class Unusable(Exception):
  """The reason why a folder is left out."""


def read(folder: pathlib.Path) -> Run:
  """Reads one run folder; scores are computed from the raw returns.

  Args:
    folder: That launch/train.py wrote.

  Returns:
    The run.

  Raises:
    Unusable: It is not finished, not whole, or not a run at all.
  """
  reader = run_reader.RunReader(folder)
  try:
    facts = reader.read_facts()
    bindings = settings.completed(reader.bindings())
    rows = reader.evaluations()
  except run_reader.NotARun as error:
    raise Unusable(f'not a run folder: {error.reason}') from error
  except (OSError, ValueError) as error:
    raise Unusable(f'not a whole run folder: {error}') from error
  try:
    num_steps = settings.number(bindings, 'train_eval.num_steps')
    regular = [row for row in rows if not row['final']]
    final = [row for row in rows if row['final']]
    if num_steps is None:
      raise KeyError('train_eval.num_steps')
    if 'finished' not in facts:
      step = max((row['step'] for row in rows), default=0)
      raise Unusable(
          f'not finished: its last evaluation is of step {step:,} of '
          f'{num_steps:,}; the command that started it resumes it')
    if not final:
      raise Unusable('not a whole run folder: it is finished, but '
                     'evaluations.jsonl has no final evaluation')
    return Run(
        folder, facts['task'], facts['method'], facts['seed'], num_steps,
        bindings, facts['dataset'], facts['dataset_hash'],
        facts['dataset_size'],
        tuple(_evaluation(facts['task'], row) for row in regular),
        _evaluation(facts['task'], final[-1]), tuple(facts['command']),
        facts['git_commit'] or '', cost_record.read(facts))
  except KeyError as error:
    raise Unusable(
        f'not a run folder of drvf_tf: no entry {error}') from error


def _evaluation(task: str, row: dict[str, Any]) -> Evaluation:
  from drvf_tf.envs import d4rl_tasks
  if 'returns' not in row:
    raise Unusable('evaluated on data alone, without a simulator: '
                   'launch/select_.py compares such runs')
  returns = np.asarray(row['returns'], np.float64)
  if not returns.size or not np.all(np.isfinite(returns)):
    raise Unusable(
        f'failed: the returns of step {row["step"]:,} are not all numbers')
  try:
    scores = d4rl_tasks.normalized_score(task, returns)
  except errors.UserError as error:
    raise Unusable(
        f'foreign: {task!r} has no reference scores of D4RL') from error
  return Evaluation(row['step'], returns, scores)
