"""The Python of README.md and docs/ runs as it stands."""
import pathlib
import re

import gin
import numpy as np
import pytest

from drvf_tf.train import methods
from tests import fakes

ROOT = pathlib.Path(__file__).parents[1]
PAGES = (ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')))


def _snippets(language):
  """(page, code) of every fenced block of a language."""
  return [(page.name, code) for page in PAGES for code in re.findall(
      rf'```{language}\n(.*?)```', page.read_text('utf-8'), flags=re.S)]


def _snippet(language, page, word):
  """The one block of a page that a word is in."""
  [code] = [code for name, code in _snippets(language)
            if name == page and word in code]
  return code


def test_readme_driver(capsys):
  snippet = _snippet('python', 'README.md', 'driver')
  exec(compile(snippet, 'README.md', 'exec'), {})
  assert 'tf.Tensor' in capsys.readouterr().out


def test_data_of_ones_own(capsys):
  snippet = _snippet('python', 'data.md', 'from_arrays')
  exec(compile(snippet, 'data.md', 'exec'), {})
  assert capsys.readouterr().out == '96 4\n'  # no row follows a timeout's


def test_a_task_of_ones_own():
  names = {'__name__': 'my_task'}
  snippet = _snippet('python', 'contributing.md', 'Corridor')
  with gin.unlock_config():
    exec(compile(snippet, 'contributing.md', 'exec'), names)
  task = names['Corridor']()
  episode = task.episode(np.zeros_like, seed=0)
  start = np.random.default_rng(0).uniform(-1, 0)
  assert episode.length == 20
  assert np.isclose(episode.episode_return, -20 * (1 - start))
  assert np.isclose(task.score([episode.episode_return])[0],
                    100 - 100 * (1 - start))


@pytest.mark.parametrize('page, code', _snippets('python'))
def test_every_snippet_is_python(page, code):
  compile(code, page, 'exec')


def test_a_method_of_ones_own(tmp_path, monkeypatch):
  python = _snippet('python', 'methods.md', 'LowerPolicyValues')
  gin_text = _snippet('gin', 'methods.md', 'LowerPolicyValues')
  (tmp_path / 'my_method.py').write_text(python, 'utf-8')
  (tmp_path / 'my_method.gin').write_text(gin_text, 'utf-8')
  monkeypatch.syspath_prepend(tmp_path)
  agent = methods.agent_of(
      ['gin/hopper_medium.gin', str(tmp_path / 'my_method.gin')],
      ['EnsembleCriticNetwork.hidden_units=(8,)',
       'tanh_gaussian_actor.hidden_units=(8,)'], observation=3, action=2)
  info = agent.train(fakes.transition())
  assert np.isfinite(info.extra['policy_gap'])
  assert float(info.extra['policy_gap']) != 0.0


@pytest.mark.parametrize('file', [
    'agents/ensemble_sac_agent.py', 'train/train_eval.py', 'train/trainer.py'])
def test_no_method_is_named_in_the_agent_or_the_loop(file):
  code = (ROOT / 'drvf_tf' / file).read_text('utf-8').lower()
  names = ('edac', 'pbrl', 'msg', 'dropout', 'sac_n', 'sac-n', 'iql', 'cql')
  assert not [name for name in names if re.search(rf'\b{name}\b', code)]
