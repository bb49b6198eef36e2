"""The speed table."""
import sys

import pytest

from drvf_tf import errors
from drvf_tf.benchmark import physics


def test_without_gymnasium_a_sentence(monkeypatch):
  monkeypatch.setitem(sys.modules, 'gymnasium', None)
  with pytest.raises(errors.UserError, match=r'drvf_tf\[benchmark\]'):
    physics.run(num_steps=1, repeats=1)


def test_table(capsys):
  pytest.importorskip('gymnasium')
  rows = physics.run(num_steps=50, repeats=1)
  assert [row[0] for row in rows] == [
      'halfcheetah-medium-v2', 'hopper-medium-v2', 'walker2d-medium-v2']
  assert 'gymnasium v4' in capsys.readouterr().out
