"""The picture of Fig. 3: points in a plane over a map of q_std."""
import pathlib
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colors, figure

from drvf_tf import errors

# Blue under white and orange: told apart by colour-blind eyes, in grey too.
_MAP = colors.LinearSegmentedColormap.from_list(
    'uncertainty', ['#08204a', '#1c5c9c', '#5fa3cf', '#c6e0f1'])
_INSIDE, _OUTSIDE, _EMPTY = 'white', '#F08C00', '#e9e9e9'
# The map reaches a little beyond the points, which fill [0, 1]².
_TICKS = np.linspace(-0.06, 1.06, 180)
_SMOOTHING = 0.018  # width of the kernel, as a share of the plane's


def check_installed() -> None:
  """Raises a sentence where scikit-learn is missing."""
  try:
    import sklearn.manifold  # noqa: F401
  except ImportError as error:
    raise errors.UserError(
        "The picture's t-SNE needs scikit-learn: pip install 'drvf_tf[report]'."
    ) from error


def embed(scaled: np.ndarray, seed: int) -> np.ndarray:
  """t-SNE of pairs: `[B, d]` to `[B, 2]`, each side in [0, 1]."""
  check_installed()
  import threadpoolctl
  from sklearn import manifold
  algorithm = manifold.TSNE(
      init='pca', perplexity=min(30.0, (len(scaled) - 1) / 3),
      random_state=seed)
  # Its threads wait for each other at every step: on a busy machine more of
  # them take many times as long.
  with threadpoolctl.threadpool_limits(1):
    plane = algorithm.fit_transform(np.asarray(scaled, np.float32))
  low, high = plane.min(axis=0), plane.max(axis=0)
  return (plane - low) / (high - low)


def smooth(plane: np.ndarray, values: np.ndarray) -> np.ma.MaskedArray:
  """Interpolates values over the plane with a Gaussian kernel.

  Args:
    plane: `[B, 2]` in [0, 1].
    values: `[B]`.

  Returns:
    Values at `_TICKS` × `_TICKS`, rows along y; masked where there is no
    point nearby.
  """
  # exp(−|x − x_i|²/2w²) is a product of one factor for each axis.
  kernels = [np.exp(-((_TICKS[:, np.newaxis] - side) / _SMOOTHING)**2 / 2)
             for side in plane.T]
  weights = kernels[1] @ kernels[0].T
  means = (kernels[1] * values) @ kernels[0].T / np.maximum(weights, 1e-12)
  return np.ma.masked_where(weights < np.exp(-2.5**2 / 2), means)


def save(plane: np.ndarray, is_ood: np.ndarray, q_stds: Sequence[np.ndarray],
         titles: Sequence[str], caption: str,
         paths: Sequence[pathlib.Path]) -> None:
  """Draws one panel for each run, all on one colour scale.

  Args:
    plane: `[B, 2]`, of `embed`.
    is_ood: `[B]` bool.
    q_stds: `[B]` for each run.
    titles: One for each run.
    caption: What the panels share.
    paths: Files to write; suffixes say the formats.
  """
  maps = [smooth(plane, values) for values in q_stds]
  levels = _levels(maps)
  count = len(q_stds)
  picture = figure.Figure(figsize=(5.4 * count + 1.2, 6.9),
                          layout='constrained')
  axes = picture.subplots(1, count, squeeze=False)[0]
  for axis, field, title in zip(axes, maps, titles):
    contours, dots = _panel(axis, plane, is_ood, field, levels)
    axis.set_title(title, fontsize=11)
  bar = picture.colorbar(contours, ax=list(axes), shrink=0.85, pad=0.02,
                         ticks=levels[::3])
  bar.ax.set_yticklabels([f'{level:.3g}' for level in levels[::3]])
  bar.set_label('predicted uncertainty q_std', fontsize=11)
  picture.legend(handles=dots, loc='outside upper center', ncols=2,
                 frameon=False, fontsize=11, markerscale=2)
  width = int(66 * count + 14)
  picture.supxlabel('\n'.join(
      line for part in caption.splitlines()
      for line in textwrap.wrap(part, width)), fontsize=9, color='#303030')
  for path in paths:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=140)


def _levels(maps: Sequence[np.ma.MaskedArray]) -> np.ndarray:
  """Steps of the one colour scale, even in the logarithm."""
  values = np.concatenate([field.compressed() for field in maps])
  low, high = np.quantile(values, [0.01, 0.99])
  low = max(low, 1e-12)
  return np.geomspace(low, max(high, 1.01 * low), 13)


def _panel(axis: Any, plane: np.ndarray, is_ood: np.ndarray,
           field: np.ma.MaskedArray,
           levels: np.ndarray) -> tuple[Any, list[Any]]:
  contours = axis.contourf(
      _TICKS, _TICKS, field, levels=levels, cmap=_MAP, extend='both',
      norm=colors.LogNorm(levels[0], levels[-1]))
  size = float(np.clip(24_000 / len(plane), 5, 30))
  dots = [
      axis.scatter(*plane[chosen].T, s=size, c=colour, marker=marker,
                   edgecolors='black', linewidths=0.3, label=label,
                   rasterized=True)
      for chosen, colour, marker, label in (
          (~is_ood, _INSIDE, 'o', 'in distribution'),
          (is_ood, _OUTSIDE, '^', 'out of distribution'))]
  axis.set(xlim=_TICKS[[0, -1]], ylim=_TICKS[[0, -1]], xticks=[], yticks=[],
           aspect='equal', facecolor=_EMPTY, xlabel='t-SNE of (s, a)')
  return contours, dots
