"""What the tests of peers share."""
import pathlib
import sys

import pytest


@pytest.fixture(name='fake_python')
def _fake_python(tmp_path):
  """An interpreter that runs the fake, whatever it is given to run."""
  python = tmp_path / 'python'
  fake = pathlib.Path(__file__).parent / 'fake_peer.py'
  python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake}" "$@"\n')
  python.chmod(0o755)
  return str(python)
