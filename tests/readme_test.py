"""The README's Python runs as it stands."""
import pathlib
import re

import pytest

README = pathlib.Path(__file__).parents[1] / 'README.md'
SNIPPETS = re.findall(r'```python\n(.*?)```', README.read_text('utf-8'),
                      flags=re.S)


@pytest.mark.parametrize('snippet', [s for s in SNIPPETS if 'Driver' in s])
def test_snippet_runs(snippet, capsys):
  exec(compile(snippet, 'README.md', 'exec'), {})
  assert 'tf.Tensor' in capsys.readouterr().out


def test_there_is_a_driver_snippet():
  assert any('Driver' in s for s in SNIPPETS)
