"""The README's Python runs as it stands."""
import pathlib
import re

import numpy as np
import pytest

from drvf_tf.train import methods
from tests import fakes

README = pathlib.Path(__file__).parents[1] / 'README.md'
SNIPPETS = re.findall(r'```python\n(.*?)```', README.read_text('utf-8'),
                      flags=re.S)


@pytest.mark.parametrize('snippet', [s for s in SNIPPETS if 'Driver' in s])
def test_snippet_runs(snippet, capsys):
  exec(compile(snippet, 'README.md', 'exec'), {})
  assert 'tf.Tensor' in capsys.readouterr().out


def test_there_is_a_driver_snippet():
  assert any('Driver' in s for s in SNIPPETS)


def test_a_method_of_ones_own(tmp_path, monkeypatch):
  python = next(s for s in SNIPPETS if 'LowerPolicyValues' in s)
  gin_text = re.search(r'```gin\n(.*?)```', README.read_text('utf-8'),
                       flags=re.S).group(1)
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
  code = (README.parent / 'drvf_tf' / file).read_text('utf-8').lower()
  names = ('edac', 'pbrl', 'msg', 'dropout', 'sac_n', 'sac-n', 'iql', 'cql')
  assert not [name for name in names if re.search(rf'\b{name}\b', code)]
