"""Fig. 3 and its numbers, from run folders to files."""
import json
import os
import pathlib
import subprocess
import sys
import types

import gin
import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.policies import support
from drvf_tf.runs import (
    building,
    checkpoints,
    configuration,
    restoring,
    run_folder,
)
from drvf_tf.uncertainty import figure, page, points
from tests.train import tiny_run

_ROOT = pathlib.Path(__file__).parents[2]


def _make_run(folder, data, *extra):
  """A run folder with one checkpoint, as training would have left it."""
  gin.clear_config()
  configuration.parse([tiny_run.GIN_FILE],
                      tiny_run.bindings(data, extra=extra))
  agent, dataset, step = building.from_gin()
  step.assign(40)
  checkpoints.Checkpoints(
      folder / 'checkpoints', 2, agent=agent, step=step).save(40, {})
  with run_folder.RunFolder(folder) as home:
    home.describe(gin.config_str(), {
        'step': 0, 'task': 'maze2d-umaze-v1', 'seed': 3,
        'dataset': dataset.provenance, 'dataset_hash': dataset.hash()})
  gin.clear_config()
  return str(folder)


@pytest.fixture(name='runs', scope='module')
def _runs(tmp_path_factory):
  """DRVF on normalised states, and point heads on raw ones."""
  data = tiny_run.make_data(tmp_path_factory.mktemp('data'))
  return [
      _make_run(tmp_path_factory.mktemp('bayes'), data,
                'loading.load.states=@normalize_observations'),
      _make_run(tmp_path_factory.mktemp('point'), data,
                'loading.load.states=@raw_observations',
                'EnsembleCriticNetwork.head=@PointHead')]


@pytest.fixture(name='far', scope='module')
def _far(tmp_path_factory):
  """Data far from the runs' own: positions in [10, 13], not in [0, 3]."""
  path = tiny_run.make_data(tmp_path_factory.mktemp('far'))
  arrays = dict(np.load(path))
  for key in ('observations', 'next_observations'):
    arrays[key] = arrays[key] + np.float32(10)
  np.savez(path, **arrays)
  return str(path)


@pytest.fixture(name='report', scope='module')
def _report(runs, far):
  return page.make(runs, far, num_points=100, num_rows=200)


def test_numbers_of_both_runs(report):
  bayes, point = report.numbers['runs']
  assert (bayes['step'], bayes['seed'], bayes['num_points']) == (40, 3, 100)
  for run in (bayes, point):
    assert 0 <= run['auroc'] <= 1
    assert run['distance_out'] > 5 * run['distance_in'] > 0
    assert run['lcb_coverage']['gamma'] == 0.99
  assert -1 <= bayes['exact_penalty']['spearman'] <= 1
  assert bayes['exact_penalty']['std_over_gamma_in'] > 0
  assert list(point['exact_penalty']) == ['absent']


def test_mean_q_std_and_auroc_belong_to_the_points(report):
  for q_std, run in zip(report.q_stds, report.numbers['runs']):
    inside, outside = q_std[:50], q_std[50:]
    assert run['q_std_in'] == pytest.approx(inside.mean())
    assert run['q_std_out'] == pytest.approx(outside.mean())
    pairs = outside[:, np.newaxis] - inside
    assert run['auroc'] == pytest.approx(
        np.mean((pairs > 0) + 0.5 * (pairs == 0)))


@pytest.fixture(name='restored', scope='module')
def _restored(runs):
  return restoring.restore(runs[0])


def _draw(restored, source, ood=None, size=30, seed=0):
  return points.draw(
      restored.dataset, source, ood, lambda states: 0.5 + 0 * states[:, :2],
      size, seed)


def test_same_seed_same_points(restored):
  first, again, other = (
      _draw(restored, 'uniform', seed=seed) for seed in (0, 0, 1))
  np.testing.assert_array_equal(first.scaled, again.scaled)
  assert not np.array_equal(first.actions, other.actions)


@pytest.mark.parametrize('source, phrase', [
    ('policy', 'greedy actions at states of the data'),
    ('uniform', 'uniform actions at states of the data')])
def test_actions_at_the_datas_states(restored, source, phrase):
  points = _draw(restored, source)
  assert points.outside == phrase
  assert points.is_ood.tolist() == [False] * 30 + [True] * 30
  raw = support.raw_observations(restored.dataset)
  rows = [np.argmin(np.abs(raw - state).sum(axis=1))
          for state in points.observations]
  np.testing.assert_array_equal(raw[rows], points.observations)
  assert len(set(rows)) == 60  # no state serves both kinds
  data_actions = restored.dataset.actions[rows]
  np.testing.assert_array_equal(data_actions[:30], points.actions[:30])
  assert not np.isclose(
      data_actions[30:], points.actions[30:]).all(axis=1).any()
  if source == 'policy':
    np.testing.assert_array_equal(points.actions[30:], 0.5)


def test_distances_leave_a_point_itself_out(restored):
  points = _draw(restored, 'uniform')
  assert points.distances.min() > 0


def test_files_and_captions(report, tmp_path, monkeypatch):
  monkeypatch.setattr(
      figure, 'embed',
      lambda scaled, seed: (scaled[:, :2] - scaled[:, :2].min())
      / np.ptp(scaled[:, :2]))
  paths = page.write(report, tmp_path / 'new')
  assert [path.suffix for path in paths] == ['.json', '.png', '.svg']
  assert json.loads(paths[0].read_text()) == report.numbers
  assert paths[1].stat().st_size > 20_000
  shown = page.table(report.numbers)
  assert 'behaviour policy' in shown
  assert 'PointHead has no Bayesian last layer' in shown
  caption = page._caption(report.numbers)
  assert 'maze2d-umaze-v1' in caption and 'tiny.npz' in caption


def test_embedding_is_reproducible():
  pytest.importorskip('sklearn')
  scaled = np.random.default_rng(0).normal(size=[40, 6])
  plane = figure.embed(scaled, seed=1)
  assert plane.shape == (40, 2)
  np.testing.assert_allclose([plane.min(), plane.max()], [0, 1])
  np.testing.assert_array_equal(plane, figure.embed(scaled, 1))


def test_smoothing_keeps_levels_and_empties_far_places():
  plane = np.array([[0., 0.], [0., 0.], [1., 1.]])
  field = figure.smooth(plane, np.array([1., 3., 5.]))
  low, middle, high = np.searchsorted(
      figure._TICKS, [0, 0.5, 1])
  assert field[low, low] == pytest.approx(2)
  assert field[high, high] == pytest.approx(5)
  assert field.mask[low, high] and field.mask[middle, middle]


def test_missing_scikit_learn_is_a_sentence(monkeypatch):
  monkeypatch.setitem(sys.modules, 'sklearn.manifold', None)
  monkeypatch.setitem(sys.modules, 'sklearn', None)
  with pytest.raises(errors.UserError, match=r"pip install 'drvf_tf\[report\]"):
    figure.check_installed()


def test_a_run_without_ensemble_is_named(runs, monkeypatch):
  restored = restoring.RestoredRun(types.SimpleNamespace(), None, 0, '', {})
  monkeypatch.setattr(restoring, 'restore', lambda *args: restored)
  with pytest.raises(errors.UserError, match='has no ensemble critic'):
    page.make(runs[:1], 'uniform')


@pytest.mark.parametrize('key, what', [('task', 'tasks'), ('dataset', 'data')])
def test_runs_that_do_not_compare_are_named(runs, tmp_path, key, what):
  facts = json.loads((pathlib.Path(runs[0]) / 'run.json').read_text())
  (tmp_path / 'run.json').write_text(json.dumps({**facts, key: 'another'}))
  with pytest.raises(errors.UserError, match=f'on different {what}'):
    page.make([runs[0], str(tmp_path)], 'uniform')


@pytest.mark.parametrize('source, message', [
    ('hopper-medum-v2', '--ood=hopper-medum-v2 names no data'),
    ('hopper-medium-v2', 'of another robot or maze'),
    ('/dev/null/none/file.hdf5', 'there is no file')])
def test_unknown_and_foreign_data_are_named(source, message):
  with pytest.raises(errors.UserError, match=message):
    points.read_ood(source, 'maze2d-umaze-v1')


def test_the_runs_own_data_are_no_ood_data(restored, tmp_path):
  renamed = str(tiny_run.make_data(tmp_path))
  same = points.read_ood(renamed, 'maze2d-umaze-v1')
  with pytest.raises(errors.UserError, match='the very pairs'):
    _draw(restored, renamed, same)


@pytest.mark.parametrize('flags, message', [
    ((), 'Which runs, against what?'),
    (('--run=a', '--ood=policy', '--label=x', '--label=y'), '1 runs and 2'),
])
def test_usage_is_one_sentence(flags, message):
  done = subprocess.run(
      [sys.executable, str(_ROOT / 'launch' / 'uncertainty.py'), *flags],
      capture_output=True, text=True, check=False, cwd='/',
      env={**os.environ, 'CUDA_VISIBLE_DEVICES': ''})
  assert done.returncode == 2
  assert message in done.stderr and 'Traceback' not in done.stderr
