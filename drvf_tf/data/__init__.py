"""Offline datasets in, batches of transitions out.

TensorFlow is imported with `TransitionSampler` only.
"""
from typing import TYPE_CHECKING, Any

from drvf_tf.data import offline_dataset, transforms
from drvf_tf.data.loading import from_arrays, load
from drvf_tf.data.offline_dataset import OfflineDataset

if TYPE_CHECKING:
  from drvf_tf.data.sampling import TransitionSampler

__all__ = ['OfflineDataset', 'TransitionSampler', 'from_arrays', 'load',
           'offline_dataset', 'transforms']


def __getattr__(name: str) -> Any:
  if name == 'TransitionSampler':
    from drvf_tf.data import sampling
    return sampling.TransitionSampler
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
