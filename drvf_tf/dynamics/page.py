"""The report on a run's dynamics model: numbers, a table, a picture."""
import pathlib
from typing import Any

import gin
import numpy as np
from matplotlib import figure as figure_lib

from drvf_tf import errors, figures
from drvf_tf.dynamics import measures, model_files
from drvf_tf.runs import configuration, pictured, run_reader, runtime


def make(run: str, seed: int = 0) -> dict[str, Any]:
  """Measures the model of a run.

  Args:
    run: The run folder; nothing is written to it.
    seed: Of the draws of rollouts.

  Returns:
    The numbers, in JSON's terms. gin holds the run's configuration now.

  Raises:
    UserError: The run has no model, or the data are not those of the run.
  """
  reader = run_reader.RunReader(pathlib.Path(run))
  facts = reader.read_facts()
  gin.clear_config()
  configuration.parse([str(reader.config_file)], [])
  with errors.of_configuration():
    runtime.configure_runtime()  # before anything else of TensorFlow
    fitted = model_files.load(reader.dynamics_folder)
    if fitted is None:
      raise errors.UserError(
          f'{run} is a run of {facts["method"]}, which has no dynamics model: '
          'name a run of a method that has, such as MOPO.')
    dataset = gin.get_bindings('train_eval')['dataset']()
  if dataset.hash() != fitted.facts['identity']['data']:
    raise errors.UserError(
        f'The model of {run} was fitted to data of another content than '
        f'{dataset.provenance}: bring back the file it was fitted to.')
  kept = ('epochs', 'steps', 'seconds', 'cpu_seconds', 'history')
  return {'run': str(run), 'task': facts['task'], 'data': dataset.provenance,
          **{name: fitted.facts[name] for name in kept},
          'members': fitted.model.num_members,
          'elites': fitted.model.elites.numpy().tolist(),
          **measures.measure(fitted, dataset, seed)}


def table(numbers: dict[str, Any]) -> str:
  """The numbers for a terminal."""
  lines = [f'{numbers["task"]}: {numbers["members"]} networks, '
           f'{len(numbers["elites"])} elites, {numbers["epochs"]} epochs, '
           f'{numbers["steps"]:,} steps, {numbers["cpu_seconds"]:.0f} CPU '
           's', f'{numbers["rows"]:,} held-out rows of {numbers["data"]}', '',
           f'{"":12}{"RMSE":>12}{"of its std":>12}{"in 50 %":>10}'
           f'{"in 90 %":>10}']
  columns = (numbers['rmse'], numbers['relative_error'],
             numbers['coverage']['0.5'], numbers['coverage']['0.9'])
  for name, rmse, relative, half, most in zip(_names(numbers), *columns):
    lines.append(f'{name:12}{rmse:12.4g}{relative:12.3f}{100 * half:9.0f}%'
                 f'{100 * most:9.0f}%')
  growth = numbers['growth']
  steps = [k for k in (1, 2, 5, 10, 25, 50) if k <= len(growth['median'])]
  lines += [
      '', f'{"steps":24}' + ''.join(f'{k:>10}' for k in steps),
      _line('error, median', [growth['median'][k - 1] for k in steps]),
      _line('error if nothing moved', [growth['still'][k - 1] for k in steps]),
      _line('uncertainty u, mean',
            [growth['uncertainty'][k - 1] for k in steps]),
      '', f'log-likelihood of a number: {numbers["log_likelihood"]:.3f}',
      'rank correlation, u and the error of one step: '
      f'{numbers["rank_correlation"]:.2f}']
  return '\n'.join(lines)


def write(numbers: dict[str, Any],
          folder: pathlib.Path) -> list[pathlib.Path]:
  """Writes the numbers as JSON and the picture as PNG and SVG.

  Args:
    numbers: What `make` returned.
    folder: Where to; it need not exist.

  Returns:
    The files.
  """
  return pictured.write('report', numbers, picture(numbers), folder)


def picture(numbers: dict[str, Any]) -> figure_lib.Figure:
  """Errors of one step, calibration, and growth over the rollout."""
  drawn = figures.new(14.0, 4.2)
  one, calibration, growth = drawn.subplots(1, 3)
  names = _names(numbers)
  one.bar(range(len(names)), numbers['relative_error'],
          color=figures.COLOURS[0])
  one.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
  one.set(ylabel='RMSE / std of the target', title='one step')
  levels = sorted(map(float, numbers['coverage']))
  shares = np.array([numbers['coverage'][str(level)] for level in levels])
  calibration.plot(levels, shares, color='#a0a0a0', linewidth=0.8)
  calibration.plot(levels, shares.mean(axis=1), 'o-',
                   color=figures.COLOURS[0], label='mean of dimensions')
  calibration.plot([0, 1], [0, 1], '--', color='black', label='calibrated')
  calibration.set(xlabel='level of the interval', ylabel='targets inside',
                  title='calibration, a line for each dimension')
  calibration.legend(frameon=False)
  found = numbers['growth']
  steps = np.arange(1, len(found['median']) + 1)
  growth.fill_between(steps, found['low'], found['high'], alpha=0.2,
                      color=figures.COLOURS[0], label='10 to 90 %')
  growth.plot(steps, found['median'], color=figures.COLOURS[0],
              label='median')
  growth.plot(steps, found['still'], '--', color=figures.COLOURS[1],
              label='if nothing moved')
  growth.set(xlabel='steps of the rollout', yscale='log',
             ylabel='error / std of the states', title='rollouts')
  growth.legend(frameon=False)
  for axis in (one, calibration, growth):
    axis.grid(alpha=0.3)
  drawn.suptitle(f'{numbers["task"]}: the dynamics model on '
                 f'{numbers["rows"]:,} held-out rows', fontsize=11)
  return drawn


def _names(numbers: dict[str, Any]) -> list[str]:
  return [*(f's_{i}' for i in range(len(numbers['rmse']) - 1)), 'reward']


def _line(name: str, values: list[float]) -> str:
  return f'{name:24}' + ''.join(f'{value:10.3g}' for value in values)
