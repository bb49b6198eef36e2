"""Estimates side by side: units, warnings, and all of them on a tiny agent."""
import gin
import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import data
from drvf_tf.data import transforms
from drvf_tf.dynamics import dynamics_ensemble
from drvf_tf.ope import behaviour, estimates, model_value, own_critic
from tests import fakes

_QUICK = """
    FittedQEvaluation.num_steps = 20
    FittedQEvaluation.num_members = 3
    FittedQEvaluation.hidden_units = (8,)
    Behaviour.num_steps = 20
    Behaviour.hidden_units = (8,)
"""


@pytest.fixture(name='rows', scope='module')
def _rows():
  """Four episodes of ten rows: two end, two are cut."""
  rng = np.random.default_rng(0)
  last = np.arange(40) % 10 == 9
  first_two = np.arange(40) < 20
  return data.from_arrays({
      'observations': rng.normal(size=[40, 3]),
      'next_observations': rng.normal(size=[40, 3]),
      'actions': rng.uniform(-0.9, 0.9, size=[40, 2]),
      'rewards': rng.normal(size=[40]),
      'terminals': last & first_two, 'timeouts': last & ~first_two}, 'mine')


def test_rows_by_episode(rows):
  short = rows.replace(episode_ends=np.isin(np.arange(40), [1, 39]))
  found = behaviour.by_episode(np.arange(40.), short)
  assert found.shape == (2, 38)
  assert found[0].tolist() == [0., 1.] + 36 * [0.]
  assert found[1].tolist() == list(range(2, 40))
  found = behaviour.by_episode(np.arange(40.), short, np.array([7., 8.]))
  assert found[0, :4].tolist() == [0., 1., 7., 0.] and found[1, 38] == 8.


def test_ratios_by_hand(rows):
  clone = behaviour.Behaviour(rows, hidden_units=(8,), num_steps=5)
  mean, std = clone.gaussian(rows.observations)
  # The clone's own mean with the clone's noise is the clone.
  assert clone.log_ratios(np.tanh(mean)) == pytest.approx(0.0, abs=1e-6)
  taken = np.arctanh(rows.actions.astype(np.float64))
  expected = np.sum((np.square(taken - mean) - np.square(taken)) / (
      2 * std**2), axis=1)
  assert clone.log_ratios(np.zeros([40, 2])) == pytest.approx(expected)
  # Known densities take the clone's place below the line: here uniform ones.
  known = rows.replace(behaviour_log_probs=np.full(40, -np.log(4.0)))
  clone = behaviour.Behaviour(known, hidden_units=(8,), num_steps=5)
  own = np.sum(-np.square(taken) / (2 * std**2) - np.log(std)
               - np.log(2 * np.pi) / 2 - np.log(1 - np.tanh(taken)**2), axis=1)
  assert clone.log_ratios(np.zeros([40, 2])) == pytest.approx(
      own + np.log(4.0), abs=1e-4)


def test_values_in_recorded_units_by_hand(rows):
  scaled = transforms.affine_reward(rows, 4., 0.5)
  # Two episodes end after ten steps, two go on for ever: V'/4 + Σγ^t / 2.
  length = ((1 - 0.5**10) + 1) / 2 * 2
  values, notes = estimates.in_recorded_units(np.array([8.]), scaled, 0.5)
  assert values == pytest.approx([2 + 0.5 * length])
  assert 'as long as the recorded' in notes[0]
  endless = scaled.replace(terminals=np.zeros(40, bool))
  values, notes = estimates.in_recorded_units(np.array([8.]), endless, 0.5)
  assert values == pytest.approx([3.0]) and not notes


def test_every_estimate_of_a_policy(rows):
  gin.parse_config(_QUICK)
  trained_on = transforms.normalize_observations(rows)
  critic = own_critic.OwnCritic(fakes.drvf(), trained_on)
  model = dynamics_ensemble.DynamicsEnsemble(3, 2, 3, 2, (8,))
  evaluation = estimates.OfflineEvaluation(rows, 0.9, bootstrap_samples=50)
  found = evaluation(estimates.Policy(critic, trained_on, model))
  assert [one.name for one in found] == list(estimates.NAMES)
  for one in found:
    assert np.isfinite([one.value, one.low, one.high]).all(), one
    assert one.low <= one.high
  named = {one.name: one for one in found}
  by_hand = np.mean([sum(0.9**t * r for t, r in enumerate(rows.rewards[part]))
                     for part in rows.episodes()])
  assert named['behaviour'].value == pytest.approx(by_hand, rel=1e-5)
  assert named['lcb'].value < named['critic'].value
  assert 1 <= named['wis'].sample_size <= 4
  assert any('horizon' in text for text in named['wis'].warnings)
  assert not any('horizon' in text for text in named['wdr'].warnings)
  text = estimates.table(found, 0.9)
  assert 'fitted Q evaluation' in text and '[1] ' in text
  assert estimates.to_json(found)[0]['warnings']


def test_a_part_of_the_episodes_will_do(rows):
  some = estimates.OfflineEvaluation(rows, 0.9, max_episodes=3).rows
  assert (some.num_episodes, some.size) == (3, 30)
  assert estimates.OfflineEvaluation(rows, 0.9, max_episodes=9).rows is rows


def test_a_policy_without_an_ensemble_has_fewer(rows):
  gin.parse_config(_QUICK)

  class Plain:
    policy = None
    act = staticmethod(lambda observations: np.full(
        [len(observations), 2], 0.95, np.float32))

  found = estimates.OfflineEvaluation(rows, 0.9, 50)(
      estimates.Policy(Plain(), rows))
  assert [one.name for one in found] == ['behaviour', 'fqe', 'wdr', 'wis']


def test_a_model_that_is_known_gives_the_value_by_hand(rows):
  class Still:
    """Nothing moves; each elite has a reward of its own, without noise."""
    elites = tf.constant([2, 0])

    def predict(self, observations, actions):
      del actions
      mean = np.zeros([3, observations.shape[0], 4], np.float32)
      mean[:, :, -1] = [[1.], [100.], [0.5]]
      return dynamics_ensemble.Prediction(
          *map(tf.constant, (mean, np.zeros_like(mean))))

  model = Still()
  known = rows.replace(rewards=np.linspace(-2, 2, 40).astype(np.float32))
  values = model_value.model_values(
      model, known, lambda observations: np.zeros(
          [len(observations), 2], np.float32), 0.5, 3)
  assert values == pytest.approx([0.5 * 1.75, 1.75])
  ended = model_value.model_values(
      model, known, lambda observations: np.zeros(
          [len(observations), 2], np.float32), 0.5, 3,
      lambda observations: tf.ones(len(observations), bool))
  assert ended == pytest.approx([0.5, 1.0])
