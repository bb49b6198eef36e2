"""The speed table."""
import sys

import pytest

from drvf_tf import user_errors
from drvf_tf.envs import benchmark


def test_without_gymnasium_a_sentence(monkeypatch):
  monkeypatch.setitem(sys.modules, 'gymnasium', None)
  with pytest.raises(user_errors.UserError, match=r'drvf_tf\[benchmark\]'):
    benchmark.run(num_steps=1, repeats=1)


def test_table(capsys):
  pytest.importorskip('gymnasium')
  rows = benchmark.run(num_steps=50, repeats=1)
  assert [row[0] for row in rows] == [
      'halfcheetah-medium-v2', 'hopper-medium-v2', 'walker2d-medium-v2']
  assert 'gymnasium v4' in capsys.readouterr().out
