"""A run that takes seconds: a tiny agent on tiny data of a real task."""
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).parents[2]
GIN_FILE = 'gin/quickstart.gin'


def make_data(folder: pathlib.Path, rows: int = 400) -> pathlib.Path:
  """Random rows in the shape of maze2d-umaze."""
  random = np.random.RandomState(0)
  path = folder / 'tiny.npz'
  np.savez(
      path,
      observations=random.uniform(0, 3, [rows, 4]).astype(np.float32),
      next_observations=random.uniform(0, 3, [rows, 4]).astype(np.float32),
      actions=random.uniform(-1, 1, [rows, 2]).astype(np.float32),
      rewards=(random.uniform(size=rows) < 0.2).astype(np.float32),
      terminals=np.zeros(rows, bool),
      timeouts=np.arange(1, rows + 1) % 100 == 0)
  return path


def bindings(data: pathlib.Path, num_steps: int = 60,
             extra: Sequence[str] = ()) -> list[str]:
  """gin bindings of a tiny run, on top of `GIN_FILE`."""
  return [
      f"loading.load.source='{data}'",
      f'train_eval.num_steps={num_steps}',
      'train_eval.batch_size=16',
      'train_eval.log_interval=10',
      'train_eval.checkpoint_interval=20',
      'train_eval.steps_per_call=5',
      'Evaluation.interval=20',
      'Evaluation.num_episodes=2',
      'Evaluation.num_workers=1',
      'Evaluation.final_episodes=3',
      'EnsembleCriticNetwork.hidden_units=(16,)',
      'EnsembleCriticNetwork.num_members=2',
      'tanh_gaussian_actor.hidden_units=(16,)',
      'DRVFAgent.num_samples=2',
      'DRVFAgent.num_ood_actions=2',
      'DRVFAgent.ood_batch_size=None',
      *extra,
  ]


def command(run_dir: pathlib.Path, gin_bindings: Sequence[str],
            gin_file: str = GIN_FILE) -> list[str]:
  """The command line of a run."""
  return [sys.executable, str(ROOT / 'launch' / 'train.py'),
          f'--gin_file={gin_file}', f'--run={run_dir}',
          *(f'--gin_param={binding}' for binding in gin_bindings)]


def start(args: Sequence[str], **environment: str) -> subprocess.Popen:
  """Starts a command, with its output at hand."""
  return subprocess.Popen(
      args, cwd='/', text=True, stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT,
      env={**os.environ, 'CUDA_VISIBLE_DEVICES': '', **environment})


def contents(run_dir: pathlib.Path) -> dict:
  """What must not depend on interruptions: rows and final weights."""
  last = max((run_dir / 'checkpoints').glob('step_*'))
  return {
      'metrics': (run_dir / 'metrics.csv').read_text(),
      'evaluations': (run_dir / 'evaluations.jsonl').read_text(),
      'last': last.name,
      'weights': _values(last / 'ckpt'),
      'best': (run_dir / 'checkpoints' / 'best' / 'score.json').read_text(),
  }


def _values(checkpoint: pathlib.Path) -> dict:
  """Every saved value; not the bytes, which hold layer names too."""
  reader = tf.train.load_checkpoint(str(checkpoint))
  return {name: reader.get_tensor(name).tobytes()
          for name in reader.get_variable_to_shape_map()
          if not name.startswith('_CHECKPOINTABLE')}
