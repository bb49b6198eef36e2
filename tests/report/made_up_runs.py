"""Run folders as launch/train.py leaves them, with made-up returns."""
import json
import pathlib
from collections.abc import Sequence
from typing import Any, Optional

from drvf_tf.runs import settings

CONFIG = """# Macros:
TASK = 'maze2d-umaze-v1'

build_agent.agent_class = @DRVFAgent
configure_runtime.intra_op_threads = 1
DRVFAgent.eta_ood = 1.0
DRVFAgent.num_samples = 10
EnsembleCriticNetwork.hidden_units = (128, 128)
EnsembleCriticNetwork.num_members = 5
EnsembleSacAgent.actor_constraint = @unconstrained
train_eval.batch_size = 256
train_eval.num_steps = 60
train_eval.seed = {seed}
"""
MACHINE = {'system': 'Linux', 'cpu': 'x86_64', 'processor': 'Fast One',
           'cores': 2}
COST = {'steps': 60, 'seconds': 2.0, 'cpu_seconds': 12.0,
        'parameters': 1_234_567, 'gpus': []}
GENERATED = "maze.hdf5 (generated, not D4RL: d4rl's planner)"


def write(folder: pathlib.Path, seed: int,
          evaluations: Sequence[Sequence[float]], final: Sequence[float],
          config: str = CONFIG, dataset: str = GENERATED,
          method: Optional[str] = None, task: str = 'maze2d-umaze-v1',
          **facts: Any) -> pathlib.Path:
  """Writes a run; cached scores are nonsense, for no one may read them.

  Args:
    folder: Of the run.
    seed: Of the run.
    evaluations: Returns of each evaluation, one every 5 steps.
    final: Returns of the final episodes.
    config: Of config.gin; `{seed}` is filled in.
    dataset: Where the data come from.
    method: Of run.json; after the configuration by default.
    task: Of run.json.
    **facts: Others of run.json; None leaves one out.

  Returns:
    The folder.
  """
  folder.mkdir(parents=True)
  (folder / 'config.gin').write_text(config.format(seed=seed))
  rows: list[dict[str, Any]] = [
      {'step': 5 * (i + 1), 'final': False, 'returns': list(returns)}
      for i, returns in enumerate(evaluations)]
  rows.append({'step': 60, 'final': True, 'returns': list(final)})
  (folder / 'evaluations.jsonl').write_text(''.join(
      json.dumps({**row, 'score': 1e6, 'mean_return': 1e6}) + '\n'
      for row in rows))
  content = {
      'method': method or settings.method(settings.read(config)),
      'task': task, 'seed': seed, 'dataset': dataset,
      'dataset_hash': 'abcdef0123', 'dataset_size': 1000,
      'command': ['/x/launch/train.py', '--gin_file=gin/quickstart.gin',
                  '--seed', str(seed), '--gin_param=DRVFAgent.kl_scale=@kl_sum',
                  f'--run_dir={folder}'],
      'git_commit': 'c0ffee', 'starts': [
          {'time': '2026-01-01T00:00:00+00:00', 'step': 0, 'steps': 60,
           'seconds': 1800.0}],
      'finished': '2026-01-01T00:30:00+00:00',
      'summary': {'final_score': 1e6}, 'machine': MACHINE, 'cost': COST,
      **facts}
  (folder / 'run.json').write_text(json.dumps(
      {name: value for name, value in content.items() if value is not None}))
  return folder
