"""Diverse Randomized Value Functions on TensorFlow and TF-Agents."""
import os
import platform
import sys

if not (3, 9) <= sys.version_info[:2] <= (3, 11):
  raise ImportError(
      'drvf_tf needs Python 3.9, 3.10 or 3.11, and this is Python '
      f'{sys.version.split()[0]}: use a virtual environment with one of them.')

__version__ = '0.1.0'

# oneDNN's products are faster here than Eigen's (see docs/performance.md), but
# TensorFlow chooses them by itself only on CPUs with AVX-512's VNNI. It reads
# this when it is imported: import drvf_tf before it, or set the variable.
if platform.machine() in ('x86_64', 'AMD64'):
  os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '1')

# gym prints that it is unmaintained whenever it is imported; D4RL's tasks need
# exactly this gym, so the notice helps nobody here.
try:
  from gym_notices import notices as _gym_notices
  _gym_notices.notices.clear()
except ImportError:
  pass
