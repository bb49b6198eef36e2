"""Offline datasets in, batches of transitions out."""
from drvf_tf.data import offline_dataset, transforms
from drvf_tf.data.loading import from_arrays, load
from drvf_tf.data.offline_dataset import OfflineDataset
from drvf_tf.data.sampling import TransitionSampler

__all__ = ['OfflineDataset', 'TransitionSampler', 'from_arrays', 'load',
           'offline_dataset', 'transforms']
