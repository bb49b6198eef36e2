"""Repulsion widens the band where there are no data, and only there."""
import numpy as np
import pytest

from drvf_tf.demo import figure, one_dimension


@pytest.fixture(name='data', scope='module')
def _data():
  return one_dimension.make_data()


@pytest.fixture(name='fits', scope='module')
def _fits(data):
  cases = [one_dimension.plain(3),
           one_dimension.drvf(3, eta_ood=0.2),
           one_dimension.without_repulsion(3)]
  return [one_dimension.fit(case, data, num_steps=800) for case in cases]


def test_repulsion_widens_the_band_off_the_data(fits):
  plain, repulsive, without = (fit.numbers for fit in fits)
  assert repulsive['std_off_data'] > 2 * plain['std_off_data']
  assert repulsive['std_off_data'] > 1.3 * without['std_off_data']


def test_the_band_stays_narrow_on_the_data(fits, data):
  repulsive = fits[1]
  assert repulsive.numbers['std_on_data'] < 0.3
  assert (repulsive.numbers['std_off_data']
          > 2 * repulsive.numbers['std_on_data'])
  found = np.interp(data.actions, repulsive.grid, repulsive.mean)
  assert np.abs(found - data.rewards).mean() < 0.2


def test_numbers_by_hand():
  data = one_dimension.Data(np.array([0.], np.float32), np.array([0.]))
  grid = np.array([-1., 0., 1.])
  truth = one_dimension.truth(grid)
  numbers = one_dimension._numbers(
      grid, truth + np.array([1., 9., 5.]), np.array([2., 0.5, 1.]), data)
  assert numbers == {'std_on_data': 0.5, 'std_off_data': 1.5,
                     'truth_in_band_off_data': 0.5}


def test_table_and_picture(fits, data, tmp_path):
  lines = one_dimension.table(fits).splitlines()
  assert [line[:22].strip() for line in lines[1:]] == [
      '3 members', '3 members + repulsion', '3 members, Bayesian he']
  figure.save(fits, data, tmp_path / 'new' / 'a.png')
  assert (tmp_path / 'new' / 'a.png').stat().st_size > 10_000
