"""Runs of App. E with made-up returns: settings as the gin files give them."""
import pathlib
from collections.abc import Sequence

import numpy as np

from tests.report import made_up_runs

LOW, HIGH = 23.85, 161.86  # D4RL's reference returns of maze2d-umaze-v1
_DROPOUT = (('agent_class = @DRVFAgent', 'agent_class = @EnsembleSacAgent\n'
             'build_agent.critic_class = @DropoutCriticNetwork'),)

# By name: what each changes in `made_up_runs.CONFIG`.
VARIANTS: dict[str, Sequence[Sequence[str]]] = {
    'DRVF': (),
    'DRVF, M=2': (('num_members = 5', 'num_members = 2'),),
    'DRVF, M=3': (('num_members = 5', 'num_members = 3'),),
    'DRVF, n=2': (('num_samples = 10', 'num_samples = 2'),),
    'DRVF, K=1': (('num_samples', 'num_ood_actions = 1\nDRVFAgent.num_samples'
                   ),),
    'DRVF, K=10': (('num_samples',
                    'num_ood_actions = 10\nDRVFAgent.num_samples'),),
    'DRVF, no repulsion': (('eta_ood = 1.0', 'eta_ood = 0.0'),),
    'DRVF, no KL': (('num_samples', 'kl_scale = @kl_zero\n'
                     'DRVFAgent.num_samples'),),
    'DRVF, TD only': (('eta_ood = 1.0', 'eta_ood = 0.0\n'
                       'DRVFAgent.kl_scale = @kl_zero'),),
    'DRVF, uniform OOD': (('num_samples', 'ood_source = @uniform\n'
                           'DRVFAgent.num_samples'),),
    'DRVF, pooled repulsion': (('num_samples', 'repulsion = @pooled_std\n'
                                'DRVFAgent.num_samples'),),
    'Dropout ensemble': (*_DROPOUT, (
        'train_eval.batch', 'EnsembleSacAgent.regularizers = ()\n'
        'train_eval.batch')),
    'Dropout + diversity': (*_DROPOUT, (
        'train_eval.batch', 'EnsembleSacAgent.regularizers = '
        '(@GradientDiversity(),)\nGradientDiversity.eta = 1.0\n'
        'train_eval.batch')),
    'Dropout + repulsion': (*_DROPOUT, (
        'train_eval.batch', 'EnsembleSacAgent.regularizers = (@Repulsion(),)\n'
        'Repulsion.num_actions = 5\ntrain_eval.batch')),
}


def write(folder: pathlib.Path, names: Sequence[str] = tuple(VARIANTS),
          seeds: int = 2) -> dict[str, list[float]]:
  """Writes runs.

  Args:
    folder: For the runs.
    names: Of `VARIANTS`.
    seeds: Of each.

  Returns:
    The mean final score of each seed, from the returns that were written.
  """
  scores: dict[str, list[float]] = {}
  for number, name in enumerate(names):
    config = made_up_runs.CONFIG
    for old, new in VARIANTS[name]:
      assert old in config, (name, old)
      config = config.replace(old, new)
    for seed in range(seeds):
      random = np.random.RandomState(100 * number + seed)
      level = random.uniform(20, 150)
      final = random.normal(level, 10, size=4)
      made_up_runs.write(
          folder / f'{number}_{seed}', seed,
          [random.normal(level * (i + 1) / 12, 8, size=3) for i in range(12)],
          final, config=config, method=name)
      scores.setdefault(name, []).append(
          100 * (float(np.mean(final)) - LOW) / (HIGH - LOW))
  return scores
