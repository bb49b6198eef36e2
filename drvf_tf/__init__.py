"""Diverse Randomized Value Functions on TensorFlow and TF-Agents."""
import sys

if not (3, 9) <= sys.version_info[:2] <= (3, 11):
  raise ImportError(
      'drvf_tf needs Python 3.9, 3.10 or 3.11, and this is Python '
      f'{sys.version.split()[0]}: use a virtual environment with one of them.')

__version__ = '0.1.0'
