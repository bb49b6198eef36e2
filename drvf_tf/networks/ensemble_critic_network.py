"""The critic: M members in one TF-Agents network, with a head to choose."""
from collections.abc import Sequence
from typing import Callable, Optional

import gin
import tensorflow as tf
from tf_agents.networks import network
from tf_agents.typing import types

from drvf_tf.networks import (
  ensemble_layers,
  heads,
  noise,
  q_values,
  statistics,
)

ObservationAndAction = tuple[tf.Tensor, tf.Tensor]
# On a CPU, layers wider than this are faster member by member, but for so many
# members that to trace them takes as long as hundreds of their steps.
_STACKED_WIDTH = 128
_MANY_MEMBERS = 100


@gin.configurable
class EnsembleCriticNetwork(network.Network):
  """M critics Q_j(s, a) = ψ_j(s, a)ᵀ w_j with stacked variables."""

  def __init__(self,
               input_tensor_spec: types.NestedTensorSpec,
               num_members: int = 5,
               hidden_units: Sequence[int] = (256, 256, 256),
               head: Callable[..., tf.keras.layers.Layer] = heads.BayesianHead,
               layer_norm: bool = False,
               norm_before_activation: bool = False,
               l2: float = 0.0,
               input_bias_range: float = 0.0,
               stacked: Optional[bool] = None,
               seed: Optional[int] = None,
               name: str = 'EnsembleCriticNetwork'):
    """Creates the network.

    Args:
      input_tensor_spec: (observation, action) specs, one vector each.
      num_members: M.
      hidden_units: Widths of the hidden layers.
      head: Constructor of the last layer, `head(num_members, seed=...)`. A
        constructor and not an instance: `copy()` would share an instance with
        the target network.
      layer_norm: Whether each hidden layer is normalised.
      norm_before_activation: Linear → LN → ReLU instead of Linear → ReLU → LN.
      l2: Coupled weight decay of the hidden kernels.
      input_bias_range: The first layer's biases start uniform in ± this, so
        that it bends all over the data; see `ensemble_layers.bias_initializer`.
      stacked: Whether one operation serves all members, or each has its own;
        see `ensemble_layers`. None: what is faster here (`_is_stacked`).
      seed: Of the initial weights.
      name: Name of the network.
    """
    _check_specs(input_tensor_spec)
    if num_members < 1:
      raise ValueError(f'num_members must be at least 1, not {num_members}.')
    if l2 < 0:
      raise ValueError(f'l2 must not be negative, not {l2}.')
    super().__init__(input_tensor_spec, state_spec=(), name=name)
    self._num_members = num_members
    self._hidden_units = tuple(hidden_units)
    self._stacked = (_is_stacked(hidden_units, num_members)
                     if stacked is None else stacked)
    self._hidden: list[tf.keras.layers.Layer] = []
    self._norm = None  # of the last hidden layer, folded into what follows
    for i, units in enumerate(hidden_units):
      layer_seed = None if seed is None else seed + i
      self._hidden.append(ensemble_layers.EnsembleDense(
          num_members, units, activation=None if layer_norm else 'relu',
          bias_range=0.0 if i else input_bias_range, l2=l2, norm=self._norm,
          seed=layer_seed, name=f'hidden_{i}'))
      if layer_norm:
        norm = ensemble_layers.EnsembleLayerNorm(
            num_members, units, name=f'norm_{i}')
        self._hidden.append(ensemble_layers.EnsembleDivision(
            rectify=not norm_before_activation, name=f'division_{i}'))
        if norm_before_activation:
          self._hidden += [norm, _EnsembleRelu()]
        else:
          self._norm = norm
    self._head = head(
        num_members, seed=None if seed is None else seed + len(hidden_units))
    # What Q is before any data: the head's N(0, I) is about this value.
    self._prior_mean = tf.Variable(
        0.0, trainable=False, name='prior_mean',
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

  @property
  def prior_mean(self) -> tf.Variable:
    """A constant that every Q sample starts from; 0 unless assigned."""
    return self._prior_mean

  @property
  def num_members(self) -> int:
    """M."""
    return self._num_members

  @property
  def head(self) -> tf.keras.layers.Layer:
    """The last layer: ψ to `QValues`."""
    return self._head

  def features(self, inputs: ObservationAndAction) -> tf.Tensor:
    """ψ(s, a) of every member, `[M, B, d]`."""
    features = ensemble_layers.stack(
        self._features(self._trunk(self._shared(inputs))))
    return tf.broadcast_to(  # a linear critic's are the inputs, shared by all
        features, [self._num_members, *tf.unstack(tf.shape(features))[1:]])

  def action_gradients(self, inputs: ObservationAndAction) -> tf.Tensor:
    """∂Q_j/∂a of every member's mean, `[M, B, act]`."""
    observations, actions = (self._copies(values) for values in inputs)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
      tape.watch(actions)
      mean = self._mean(ensemble_layers.each(
          lambda *pair: tf.concat(pair, axis=-1), observations, actions))
    return ensemble_layers.stack(tape.gradient(mean, actions))

  def _copies(self, values: tf.Tensor) -> ensemble_layers.Members:
    """For each member its own `[B, size]`."""
    if self._stacked:
      return tf.tile(values[tf.newaxis], [self._num_members, 1, 1])
    return [tf.identity(values) for _ in range(self._num_members)]

  def _shared(self, inputs: ObservationAndAction) -> ensemble_layers.Members:
    """The same rows `[B, obs + act]` for every member."""
    rows = tf.concat(inputs, axis=-1)
    if self._stacked:
      return tf.expand_dims(rows, 0)
    return [rows] * self._num_members

  def _mean(self, rows: ensemble_layers.Members) -> tf.Tensor:
    """Mean of Q at each member's own rows, `[M, B]`."""
    return self._head.moments(self._trunk(rows), self._norm)[0]

  def _trunk(
      self, members: ensemble_layers.Members) -> ensemble_layers.Members:
    """The hidden layers; of the last one's normalisation the division alone."""
    for layer in self._hidden:
      members = layer(members)
    return float32(members)

  def _features(
      self, hidden: ensemble_layers.Members) -> ensemble_layers.Members:
    """ψ of what `_trunk` gives."""
    return hidden if self._norm is None else float32(self._norm(hidden))

  def evaluate(self,
               sets: Sequence[ObservationAndAction],
               num_samples: int,
               seed: Optional[tf.Tensor] = None) -> list[q_values.QValues]:
    """Q at several sets of pairs: one pass, own draws for each set.

    All draws multiply all rows, and each set takes its own: what the head's
    product costs does not grow with its columns, but to take ψ apart for one
    product each, and its gradient together again, would copy it twice.

    Args:
      sets: (observations `[B_i, obs]`, actions `[B_i, act]`) each.
      num_samples: n, draws per member.
      seed: Stateless seed of the draws; None draws afresh.

    Returns:
      One `QValues` for each set.
    """
    prior_mean = tf.convert_to_tensor(self._prior_mean)
    return [q._replace(samples=q.samples + prior_mean,
                       mean=q.mean + prior_mean)
            for q in self._deviations(sets, num_samples, seed)]

  def _deviations(self, sets: Sequence[ObservationAndAction], num_samples: int,
                  seed: Optional[tf.Tensor]) -> list[q_values.QValues]:
    """`evaluate`, less the prior mean."""
    joined = sets[0] if len(sets) == 1 else tuple(
        tf.concat(parts, axis=0) for parts in zip(*sets))
    hidden = self._trunk(self._shared(joined))
    together = q_values.QValues(
        self._head.sample(hidden, num_samples * len(sets), seed, self._norm),
        *self._head.moments(hidden, self._norm))
    if len(sets) == 1:
      return [together]
    sizes = [noise.num_rows(actions) for _, actions in sets]
    # To split is cheaper than to slice: its gradient is a concatenation.
    samples, mean, variance = (
        tf.split(values, sizes, axis=1) for values in together)
    own = [tf.split(rows, len(sets), axis=2)[i]
           for i, rows in enumerate(samples)]
    return [q_values.QValues(*parts) for parts in zip(own, mean, variance)]

  def call(self,
           inputs: ObservationAndAction,
           step_type: types.NestedTensor = (),
           network_state: types.NestedTensor = (),
           training: bool = False,
           num_samples: int = 1,
           seed: Optional[tf.Tensor] = None
           ) -> tuple[q_values.QValues, types.NestedTensor]:
    """Q at (s, a): the trunk runs once, however many samples are drawn.

    Args:
      inputs: (observation `[B, obs]`, action `[B, act]`).
      step_type: Unused.
      network_state: Passed on.
      training: Unused.
      num_samples: n, draws per member.
      seed: Stateless seed of the draws; None draws afresh.

    Returns:
      (`QValues`, network_state).
    """
    del step_type, training
    return self.evaluate([inputs], num_samples, seed)[0], network_state

  def kl_divergence(self) -> tf.Tensor:
    """KL of each member's posterior from the prior, `[M]`."""
    return self._head.kl_divergence()

  def decay_loss(self) -> tf.Tensor:
    """λ/2·Σ kernel² over the hidden kernels, a scalar."""
    losses = [loss for layer in self._hidden for loss in layer.losses]
    return tf.add_n(losses) if losses else tf.zeros([])

  def uncertainty(
      self, inputs: ObservationAndAction) -> statistics.QStatistics:
    """Closed-form mean and standard deviations of Q(s, a), `[B]` each."""
    q, _ = self(inputs)
    return statistics.q_statistics(q.mean, q.variance)


class _EnsembleRelu(tf.keras.layers.Layer):
  """ReLU on every member."""

  def call(self, inputs: ensemble_layers.Members) -> ensemble_layers.Members:
    """Applies it."""
    return ensemble_layers.each(tf.nn.relu, inputs)


def float32(members: ensemble_layers.Members) -> ensemble_layers.Members:
  """The members in float32, whatever the hidden layers computed in."""
  return ensemble_layers.each(lambda x: tf.cast(x, tf.float32), members)


def _is_stacked(hidden_units: Sequence[int], num_members: int) -> bool:
  """Whether stacked members are faster here; see docs/performance.md."""
  return bool(tf.config.list_physical_devices('GPU')
              or max(hidden_units, default=0) <= _STACKED_WIDTH
              or num_members > _MANY_MEMBERS)


def _check_specs(input_tensor_spec: types.NestedTensorSpec) -> None:
  """Raises unless the input is one observation vector and one action vector."""
  flat = tf.nest.flatten(input_tensor_spec)
  if len(flat) != 2:
    raise ValueError(
        'input_tensor_spec must be one observation and one action spec, not '
        f'{input_tensor_spec}: flatten nested observations first.')
  for what, spec in zip(('observation', 'action'), flat):
    if spec.shape.rank != 1:
      raise ValueError(
          f'The {what} spec must be a vector [size], not of shape '
          f'{spec.shape}: flatten it first.')
