"""The dataset card."""
import json

import numpy as np
import pytest

from drvf_tf import data
from drvf_tf.data import card, card_picture


def test_numbers_by_hand(arrays):
  arrays['next_observations'] = arrays['observations']
  arrays['actions'][:] = 0.
  arrays['actions'][:5, 0] = 1.
  dataset = data.from_arrays(arrays, 'mine', task='hopper-medium-v2')
  content = card.make(dataset)
  assert (content['rows'], content['episodes']) == (10, 3)
  assert [content[name] for name in ('terminals', 'timeouts', 'cut_off')] == [
      1, 1, 1]
  assert content['return']['mean'] == pytest.approx(np.mean([6, 22, 17]))
  assert content['episode_length']['max'] == 4
  assert content['action_saturation'] == pytest.approx(5 / 30)
  assert content['rewarded_share'] == pytest.approx(0.9)
  low, high = dataset.reference_scores
  assert content['normalized_score']['max'] == pytest.approx(
      100 * (22 - low) / (high - low))
  assert content['sha256'] == dataset.hash()
  assert json.loads(json.dumps(content)) == content
  text = card.to_text(content)
  for part in ('10 in 3 episodes', '1 terminal, 1 timed out, 1 cut off',
               'coverage'):
    assert part in text


def test_coverage_by_hand():
  rng = np.random.default_rng(0)
  square = rng.uniform(size=(100_000, 2))
  wide = card.coverage(square)
  assert wide['effective_dimensions'] == pytest.approx(2., abs=0.01)
  line = np.repeat(square[:, :1], 2, axis=1)
  narrow = card.coverage(line)
  assert narrow['effective_dimensions'] == pytest.approx(1., abs=0.01)
  assert narrow['grid_share'] < wide['grid_share']


def test_constant_observations_have_a_card():
  assert card.coverage(np.zeros((10, 3)))['effective_dimensions'] == 0.
  half = np.zeros((10, 3))
  half[:, 0] = np.arange(10)
  assert card.coverage(half)['effective_dimensions'] == pytest.approx(1.)


def test_picture(tmp_path, arrays):
  card_picture.save(data.from_arrays(arrays, 'mine'), tmp_path / 'a/card.png')
  assert (tmp_path / 'a/card.png').read_bytes()[:4] == b'\x89PNG'


def test_the_title_is_inside_the_picture(arrays):
  dataset = data.from_arrays(arrays, 'mine').replace(
      provenance='Ant_maze_u-maze_noisy_multistart_False_multigoal_False_'
      "sparse_fixed.hdf5 (regenerated, not D4RL: D4RL's recipe and "
      'goal-reaching ant, episodes end at the goal)')
  picture = card_picture.draw(dataset)
  picture.draw_without_rendering()
  (title,) = picture.texts
  width = picture.bbox.width
  box = title.get_window_extent()
  assert 0 <= box.x0 and box.x1 <= width and box.y1 <= picture.bbox.height
  highest = max(axis.get_window_extent().y1 for axis in picture.axes)
  assert box.y0 > highest  # over no panel


def test_an_episode_that_is_held_out_takes_its_cut_along(arrays):
  from drvf_tf.data import transforms
  arrays['next_observations'] = arrays['observations']
  whole = data.from_arrays(arrays, 'mine')
  parts = transforms.hold_out_episodes(whole, fraction=0.34)
  assert whole.cut_off
  last = 9. in parts.rewards
  assert (parts.cut_off, parts.held_out.cut_off) == (last, not last)
  arrays['timeouts'][-1] = True
  assert not data.from_arrays(arrays, 'mine').cut_off
