"""What a head knows of Q, and the project's one shape convention.

Q samples are `[M, B, n]`: members, rows of the batch, posterior draws.
"""
from typing import NamedTuple

import tensorflow as tf


class QValues(NamedTuple):
  """What a head knows of Q at B state-action pairs.

  Attributes:
    samples: `[M, B, n]` draws of Q; one draw is one function, shared by all
      rows.
    mean: `[M, B]` closed-form mean over the posterior, per member.
    variance: `[M, B]` closed-form variance over the posterior, per member.
  """
  samples: tf.Tensor
  mean: tf.Tensor
  variance: tf.Tensor
