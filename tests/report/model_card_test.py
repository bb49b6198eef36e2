"""The model card: one page that loads nothing and says what it must."""
import json

import gin
import numpy as np
import pytest

from drvf_tf import data
from drvf_tf.data import transforms
from drvf_tf.policies import support, uncertainty_policy
from drvf_tf.report import model_card
from drvf_tf.runs import restoring
from tests import fakes

_REPORT = {'written': 'today', 'agent': 'DRVFAgent', 'fallback': None}


@pytest.fixture(name='run')
def _run(tmp_path):
  """A restored run on logs of ten episodes, its configuration in gin."""
  rng = np.random.default_rng(0)
  logs = tmp_path / 'logs.npz'
  np.savez(logs, observations=rng.normal(5.0, 3.0, size=(100, 3)),
           actions=rng.uniform(-1, 1, (100, 2)), rewards=rng.normal(size=100),
           terminals=np.zeros(100), timeouts=np.arange(1, 101) % 10 == 0)
  gin.parse_config(f"loading.load.source = '{logs}'")
  dataset = transforms.normalize_observations(data.load())
  return restoring.RestoredRun(
      fakes.drvf(), dataset, 40, "train_eval.method = 'DRVF'\n# no more\n",
      {'task': 'own <data>', 'seed': 3, 'method': 'DRVF',
       'versions': {'tensorflow': '2.15.1'}})


def test_a_page_that_loads_nothing(run, tmp_path):
  measured = support.measure(uncertainty_policy.of_agent(
      run.agent, run.dataset), run.dataset, 'training rows')
  path = model_card.write(
      run, str(tmp_path), {**_REPORT, 'support': measured.report}, tmp_path)
  page = path.read_text()
  assert path.name == 'model_card.html'
  assert 'src="data:image/png;base64,' in page
  assert 'http' not in page.replace('http-equiv', '') and '<script' not in page
  assert 'own &lt;data&gt;' in page
  for words in ('must not be used for', 'no simulator and no trial',
                'in_support is false', 'lower bound', 'seed 3', '40 train',
                'state minimum', 'tensorflow 2.15.1',
                'no fitted Q evaluation of this step'):
    assert words in page, words
  # The data as they were recorded, not as the networks see them.
  low = (run.dataset.observations * run.dataset.observation_std
         + run.dataset.observation_mean).min(axis=0)
  assert ' '.join(f'{x:.3g}' for x in low) in page


def test_what_evaluate_offline_found_is_on_the_card(run, tmp_path):
  one = {'name': 'fqe', 'value': 12.5, 'low': 1.0, 'high': 24.0,
         'sample_size': None, 'warnings': ['extrapolation: much']}
  data_got = {**one, 'name': 'behaviour', 'value': 2.0, 'warnings': []}
  found = {'step': 40, 'gamma': 0.9, 'episodes': 10, 'data': 'logs.npz',
           'rows': 90, 'estimates': [data_got, one]}
  (tmp_path / 'offline.json').write_text(json.dumps(found))
  (tmp_path / 'evaluations.jsonl').write_text(json.dumps(
      {'step': 40, 'final': True, 'score': 77.7, 'returns': [1.0, 2.0],
       'mean_return': 1.5}) + '\n')
  page = model_card.write(
      run, str(tmp_path), {**_REPORT, 'no_statistics': 'It has no gate.'},
      tmp_path).read_text()
  for words in ('1\u00a0to\u00a024', 'extrapolation: much',
                'normalised score 77.7',
                'the low end of its estimate (1) is not above',
                'It has no gate. Nothing warns'):
    assert words in page, words
  assert 'no fitted' not in page and 'no trial' not in page
  # A value beyond the cut is no more than one before it.
  data_got['warnings'] = ['horizon: episodes are cut']
  (tmp_path / 'offline.json').write_text(json.dumps(
      {**found, 'estimates': [data_got, {**one, 'low': 9.0}]}))
  page = model_card.write(
      run, str(tmp_path), {**_REPORT, 'no_statistics': '.'},
      tmp_path).read_text()
  assert 'the two cannot be compared' in page and 'not above' not in page
  # Of another step it says nothing.
  page = model_card.write(
      run._replace(step=50), str(tmp_path), {**_REPORT, 'no_statistics': '.'},
      tmp_path).read_text()
  assert '1\u00a0to\u00a024' not in page
