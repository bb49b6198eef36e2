"""The two scripts as a user runs them."""
import json
import os
import pathlib
import subprocess
import sys

import h5py

_LAUNCH = pathlib.Path(__file__).parents[2] / 'launch'


def _run(tmp_path, script, *flags):
  environment = dict(os.environ, HOME=str(tmp_path),
                     D4RL_DATASET_DIR=str(tmp_path), TF_CPP_MIN_LOG_LEVEL='2')
  return subprocess.run(
      [sys.executable, str(_LAUNCH / script), *flags], env=environment,
      capture_output=True, text=True, check=False)


def test_collect_then_card(tmp_path):
  output = tmp_path / 'maze.hdf5'
  collected = _run(tmp_path, 'collect.py', '--task=maze2d-umaze-v1',
                   '--policy=waypoints', '--num_steps=3000', '--seed=1',
                   f'--out={output}')
  assert collected.returncode == 0, collected.stderr
  assert '3,000 rows' in collected.stdout
  with h5py.File(output) as file:
    assert set(file) == {'observations', 'actions', 'rewards', 'terminals',
                         'timeouts', 'next_observations', 'infos'}
    assert 'collected, not D4RL: waypoints' in file.attrs['note']
  shown = _run(tmp_path, 'dataset.py', f'--dataset={output}',
               '--task=maze2d-umaze-v1', f'--out={tmp_path / "card"}')
  assert shown.returncode == 0, shown.stderr
  assert 'normalised score' in shown.stdout
  card = json.loads((tmp_path / 'card/card.json').read_text())
  assert card['rows'] == 3000 and card['cut_off'] == 1
  assert (f'{card["episodes"]} episodes ({card["timeouts"]} whole, the last '
          'cut off') in collected.stdout
  assert (tmp_path / 'card/card.png').is_file()


def _assert_sentence(result, sentence):
  assert result.returncode == 2
  assert sentence in result.stderr
  assert 'Traceback' not in result.stderr


def test_errors_are_sentences(tmp_path):
  (tmp_path / 'bad.hdf5').write_bytes(b'not HDF5')
  _assert_sentence(
      _run(tmp_path, 'dataset.py', f'--dataset={tmp_path / "bad.hdf5"}'),
      'error: ')
  _assert_sentence(
      _run(tmp_path, 'collect.py', '--task=hopper-medium-v2',
           '--policy=waypoints', f'--out={tmp_path / "x.hdf5"}'),
      'is not a maze2d task')
