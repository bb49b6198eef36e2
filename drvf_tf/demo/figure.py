"""The picture of `one_dimension`: panels side by side, on one scale."""
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import figure, ticker

from drvf_tf.demo import one_dimension

# Okabe and Ito's palette: told apart by colour-blind eyes too.
_COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00')
_BAND = '#56B4E9'


def save(fits: Sequence[one_dimension.Fit], data: one_dimension.Data,
         path: pathlib.Path) -> None:
  """Draws data, functions and the band of each ensemble.

  Args:
    fits: One panel each.
    data: What they were trained on.
    path: The file to write; its suffix says the format.
  """
  picture = figure.Figure(figsize=(10, 4.3), layout='constrained')
  axes = picture.subplots(1, len(fits), sharex=True, sharey=True,
                          squeeze=False)[0]
  for axis, fit in zip(axes, fits):
    _panel(axis, fit, data)
  axes[0].set_ylabel('Q(a)', fontsize=13)
  handles, labels = axes[0].get_legend_handles_labels()
  picture.legend(
      handles, labels, loc='outside lower center', ncols=len(labels),
      frameon=False, fontsize=12, handlelength=1.6, columnspacing=1.6)
  path.parent.mkdir(parents=True, exist_ok=True)
  picture.savefig(path, dpi=160)


def _panel(axis: Any, fit: one_dimension.Fit,
           data: one_dimension.Data) -> None:
  grid, mean, std = fit.grid, fit.mean, fit.std
  axis.fill_between(grid, mean - 2 * std, mean + 2 * std, color=_BAND,
                    alpha=0.35, linewidth=0, label='mean ± 2 std')
  count = fit.functions.shape[0] * fit.functions.shape[1]
  width, alpha = (1.4, 0.9) if count <= 5 else (0.7, 0.55)
  for j, member in enumerate(fit.functions):
    colour = _COLOURS[j % len(_COLOURS)]
    label = 'members, or draws from them' if j == 0 else None
    axis.plot(grid, member[0], color=colour, linewidth=width, alpha=alpha,
              label=label)
    axis.plot(grid, member[1:].T, color=colour, linewidth=width, alpha=alpha)
  axis.plot(grid, one_dimension.truth(grid), color='black', linewidth=1.6,
            linestyle=(0, (4, 2)), label='truth')
  axis.plot(data.actions, data.rewards, 'o', color='black', markersize=4,
            markeredgecolor='white', markeredgewidth=0.5, label='data')
  axis.set_title(fit.case.name, fontsize=15, fontweight='bold', pad=26)
  axis.text(0.5, 1.03, 'std {std_on_data:.2f} on data, {std_off_data:.2f} '
            'off'.format(**fit.numbers), transform=axis.transAxes,
            ha='center', fontsize=12.5, color='#404040')
  axis.set_xlabel('action a', fontsize=13)
  axis.set_xlim(grid[0], grid[-1])
  axis.set_xticks(np.arange(-2, 3, 2))
  axis.yaxis.set_major_locator(ticker.MultipleLocator(2))
  axis.tick_params(labelsize=12)
  axis.spines[['top', 'right']].set_visible(False)
