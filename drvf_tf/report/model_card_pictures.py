"""What a model card shows of a critic: how sure it is, and how right."""
from typing import Any

import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import figures
from drvf_tf.data import returns
from drvf_tf.ope import own_critic
from drvf_tf.policies import support
from drvf_tf.runs import restoring

_ROWS = 5_000  # that are drawn from
_BINS = 20


def draw(critic: own_critic.OwnCritic, run: restoring.RestoredRun,
         threshold: float, seed: int = 0) -> dict[str, figure_lib.Figure]:
  """q_std on and off the data, and Q beside what the data returned.

  Args:
    critic: The run's, with an ensemble.
    run: Its data; the episodes that were held out where there are some.
    threshold: The gate's.
    seed: Of the rows and of the uniform actions.

  Returns:
    The pictures `certainty` and `calibration`.
  """
  rows = run.dataset.held_out or run.dataset
  rng = np.random.default_rng(seed)
  chosen = np.sort(rng.choice(rows.size, min(_ROWS, rows.size), replace=False))
  seen = support.raw_observations(rows)[chosen]
  uniform = rng.uniform(rows.action_low, rows.action_high,
                        [len(chosen), len(rows.action_low)])
  recorded = critic.statistics(seen, rows.actions[chosen])
  spreads = {'recorded actions': recorded['q_std'],
             'its own actions': critic.statistics(
                 seen, critic.act(seen))['q_std'],
             'uniform actions': critic.statistics(
                 seen, uniform.astype(np.float32))['q_std']}
  going = returns.returns_to_go(rows, run.agent.gamma)[chosen]
  return {'certainty': _certainty(spreads, threshold),
          'calibration': _calibration(
              recorded['q_mean'], recorded['q_std'], going)}


def _certainty(spreads: dict[str, np.ndarray],
               threshold: float) -> figure_lib.Figure:
  drawn = figures.new(5.5, 4.2)
  axis = drawn.subplots()
  values = np.concatenate(list(spreads.values()))
  top = max(np.quantile(each, 0.99) for each in spreads.values())
  edges = np.linspace(values.min(), max(top, values.min() + 1e-9), 51)
  for number, (name, each) in enumerate(spreads.items()):
    axis.hist(np.minimum(each, edges[-1]), bins=edges, histtype='stepfilled',
              alpha=0.5, label=name, color=figures.COLOURS[number],
              weights=np.full(len(each), 100 / len(each)))
  axis.axvline(threshold, color='black', linestyle='--', label='the gate')
  axis.set(xlabel='q_std', ylabel='% of the rows',
           title='how sure its critic is')
  _finish(drawn, axis)
  return drawn


def _calibration(q_mean: np.ndarray, q_std: np.ndarray,
                 going: np.ndarray) -> figure_lib.Figure:
  drawn = figures.new(5.5, 4.2)
  axis = drawn.subplots()
  parts = [part for part in np.array_split(np.argsort(q_mean), _BINS)
           if len(part)]
  said = [q_mean[part].mean() for part in parts]
  axis.errorbar(said, [going[part].mean() for part in parts],
                yerr=[going[part].std() / np.sqrt(len(part))
                      for part in parts],
                xerr=[q_std[part].mean() for part in parts],
                fmt='o', color=figures.COLOURS[0], markersize=4,
                elinewidth=1, label='a twentieth of the rows')
  ends = [min(said), max(said)]
  axis.plot(ends, ends, '--', color='black', label='equal')
  axis.set(xlabel="Q of the recorded action, in the run's rewards",
           ylabel='what the data returned', title='calibration')
  _finish(drawn, axis)
  return drawn


def _finish(drawn: figure_lib.Figure, axis: Any) -> None:
  """A grid, and the legend where it hides nothing."""
  axis.grid(alpha=0.3)
  drawn.legend(loc='outside lower center', ncols=2, frameon=False, fontsize=8)
