"""The critic: stacked members, the stock Bayesian head, its statistics."""
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tf_agents.specs import tensor_spec

from drvf_tf.losses import terms
from drvf_tf.networks import (
  actor_network,
  ensemble_critic_network,
  ensemble_layers,
  heads,
  statistics,
)
from tests import fakes

tfd = tfp.distributions


def _critic(num_members=3, head=heads.BayesianHead, **kwargs):
  settings = dict(hidden_units=(8, 8), layer_norm=True, seed=0)
  settings.update(kwargs)
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      fakes.CRITIC_SPEC, num_members=num_members, head=head, **settings)
  critic.create_variables()
  return critic


def _inputs(size=6):
  observations, actions, *_ = fakes.arrays(size)
  return tf.constant(observations), tf.constant(actions)


def test_samples_have_the_projects_shape():
  q, state = _critic()(_inputs(), num_samples=4)
  assert q.samples.shape == [3, 6, 4]
  assert q.mean.shape == q.variance.shape == [3, 6]
  assert state == ()


def test_first_biases_can_be_spread_and_differ_between_members():
  critic = _critic(hidden_units=(256, 8), input_bias_range=2.0,
                   layer_norm=False)
  first, second = (critic.trainable_variables[i].numpy() for i in (1, 3))
  assert first.shape == (3, 256)
  assert -1.9 <= first.min() < -1.7 and 1.9 < first.max() <= 2.1
  assert (first[0] != first[1]).mean() > 0.9
  np.testing.assert_array_equal(second, np.full((3, 8), 0.1, np.float32))
  with pytest.raises(ValueError, match='input_bias_range'):
    _critic(input_bias_range=-1.0)


def test_last_layer_is_the_stock_tfp_layer():
  layer = _critic().head._weights
  assert type(layer) is tfp.layers.DenseReparameterization
  assert layer.kernel_posterior.event_shape == [9, 1]  # 8, and the bias
  assert layer.kernel_posterior.batch_shape == [3]


@pytest.mark.parametrize('norm_before_activation', [False, True])
@pytest.mark.parametrize('head', [heads.BayesianHead, heads.PointHead])
def test_stacked_members_equal_separate_networks(head, norm_before_activation):
  kwargs = dict(head=head, norm_before_activation=norm_before_activation)
  stacked = _critic(3, **kwargs)
  for j in range(3):
    alone = _critic(1, **kwargs)
    for mine, theirs in zip(alone.trainable_variables,
                            stacked.trainable_variables):
      mine.assign(theirs[j:j + 1])
    q, _ = stacked(_inputs())
    q_alone, _ = alone(_inputs())
    np.testing.assert_allclose(q_alone.mean[0], q.mean[j], rtol=1e-5,
                               atol=1e-7)
    np.testing.assert_allclose(q_alone.variance[0], q.variance[j], rtol=1e-5)


def test_members_start_different_and_do_not_touch_each_other():
  critic = _critic(3)
  with tf.GradientTape() as tape:
    q, _ = critic(_inputs(), num_samples=4, seed=tf.constant([1, 2]))
    value = tf.reduce_sum(q.samples[1])
  assert not np.allclose(q.mean[0], q.mean[1])
  for gradient in tape.gradient(value, critic.trainable_variables):
    slope = tf.convert_to_tensor(gradient).numpy()
    assert np.abs(slope[1]).max() > 0
    assert np.abs(slope[[0, 2]]).max() == 0


def test_copy_shares_no_variable():
  critic = _critic()
  copy = critic.copy(name='target')
  copy.create_variables()
  assert not ({id(v) for v in critic.variables}
              & {id(v) for v in copy.variables})


def test_trunk_runs_once_however_many_draws(monkeypatch):
  calls = []
  call = ensemble_layers.EnsembleDense.call
  monkeypatch.setattr(ensemble_layers.EnsembleDense, 'call',
                      lambda self, x: calls.append(self.name) or call(self, x))
  critic = _critic()
  calls.clear()
  critic(_inputs(), num_samples=50)
  assert calls == ['hidden_0', 'hidden_1']


def test_sets_are_evaluated_together_with_draws_of_their_own():
  critic = _critic()
  first = _inputs(6)
  second = tuple(part[:4] for part in first)
  q_first, q_second = critic.evaluate(
      [first, second], num_samples=3, seed=tf.constant([0, 1]))
  assert q_first.samples.shape == [3, 6, 3]
  assert q_second.samples.shape == [3, 4, 3]
  for q, inputs in ((q_first, first), (q_second, second)):
    alone, _ = critic(inputs)
    np.testing.assert_allclose(q.mean, alone.mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(q.variance, alone.variance, rtol=1e-5)
  # The first four rows are the same pairs, the draws are others.
  assert not np.allclose(q_first.samples[:, :4], q_second.samples)


def test_one_draw_is_one_function_shared_by_the_rows():
  critic = _critic(hidden_units=(), layer_norm=False)
  observation = tf.ones([4, 3]) * tf.constant([[0.], [1.], [2.], [3.]])
  q, _ = critic((observation, tf.zeros([4, 2])), num_samples=5)
  steps = np.diff(q.samples, axis=1)  # linear in s: equal steps along rows
  assert np.abs(steps).min() > 0
  np.testing.assert_allclose(steps[:, 0], steps[:, 2], rtol=1e-4, atol=1e-5)
  assert q.samples.numpy()[:, 0].std(axis=-1).min() > 0


def test_kl_is_of_the_layers_posterior_from_its_prior():
  critic = _critic()
  layer = critic.head._weights
  expected = tfd.kl_divergence(layer.kernel_posterior, layer.kernel_prior)
  assert expected.shape == [3]
  np.testing.assert_allclose(critic.kl_divergence(), expected, rtol=1e-5)


def test_kl_is_of_the_present_graph_and_has_a_gradient():
  critic = _critic()
  critic(_inputs())
  weights = critic.head._weights

  @tf.function
  def slope():
    with tf.GradientTape() as tape:
      kl = tf.reduce_sum(critic.kl_divergence())
    return tape.gradient(kl, weights.trainable_variables)

  mu_slope, rho_slope = slope()
  posterior = weights.kernel_posterior
  np.testing.assert_allclose(mu_slope, posterior.mean(), rtol=1e-5)
  # dKL/dσ = σ − 1/σ, dσ/dρ = sigmoid(ρ) = 1 − exp(−σ).
  sigma = posterior.stddev().numpy()
  np.testing.assert_allclose(
      rho_slope, (sigma - 1 / sigma) * (1 - np.exp(-sigma)), rtol=1e-4)
  assert np.isfinite(critic.kl_divergence()).all()  # eager, after a trace


def test_closed_form_statistics_agree_with_draws():
  critic = _critic()
  q, _ = critic(_inputs(), num_samples=20_000, seed=tf.constant([0, 1]))
  samples = q.samples.numpy()
  std = np.sqrt(q.variance.numpy())
  np.testing.assert_allclose(samples.mean(-1), q.mean, atol=0.05 * std.max())
  np.testing.assert_allclose(samples.std(-1), std, rtol=0.03)
  stats = critic.uncertainty(_inputs())
  np.testing.assert_allclose(samples.std(axis=(0, 2)), stats.std, rtol=0.03)


def test_weight_decay_is_half_lambda_times_the_hidden_kernels():
  critic = _critic(l2=0.2)
  kernels = [v.numpy() for v in critic.variables
             if 'hidden' in v.name and 'kernel' in v.name]
  assert len(kernels) == 2
  np.testing.assert_allclose(
      critic.decay_loss(), 0.1 * sum((k**2).sum() for k in kernels), rtol=1e-5)
  with tf.GradientTape() as tape:
    loss = critic.decay_loss()
  for variable, gradient in zip(critic.trainable_variables,
                                tape.gradient(loss,
                                              critic.trainable_variables)):
    if 'hidden' in variable.name and 'kernel' in variable.name:
      np.testing.assert_allclose(gradient, 0.2 * variable, rtol=1e-5)
    else:
      assert gradient is None


def _keras_and_our_norm(width=7):
  """(Keras' layer, ours) with the same affine parameters."""
  rng = np.random.default_rng(1)
  affine = rng.normal(size=[2, width]).astype(np.float32)
  keras_layer = tf.keras.layers.LayerNormalization(epsilon=1e-5)
  keras_layer.build([1, width])
  keras_layer.set_weights(affine)
  ours = ensemble_layers.EnsembleLayerNorm(1, width)
  ours.set_weights(affine[:, None])
  return keras_layer, ours


def _rows(seed=0):
  rng = np.random.default_rng(seed)
  return tf.constant(rng.normal(2.0, 3.0, size=[5, 7]), tf.float32)


@pytest.mark.parametrize('rectify', [False, True])
@pytest.mark.parametrize('form', ['explicit', 'folded', 'compiled'])
def test_layer_norm_and_its_gradients_equal_kerass(form, rectify):
  keras_layer, ours = _keras_and_our_norm()
  division = ensemble_layers.EnsembleDivision(rectify)
  kernel = tf.constant(_rows(3).numpy().T)  # [7, 5]

  def our_product(x):
    if form == 'explicit':
      return tf.matmul(ours(division([x]))[0], kernel)
    folded, offset = ours.fold(kernel[tf.newaxis])
    return tf.matmul(division([x])[0], folded[0]) + offset[0]

  def keras_product(x):
    return tf.matmul(keras_layer(tf.nn.relu(x) if rectify else x), kernel)

  def written_out(x):  # Keras' own second derivative is off after a ReLU
    x = tf.nn.relu(x) if rectify else x
    x -= tf.reduce_mean(x, axis=-1, keepdims=True)
    std = tf.sqrt(tf.reduce_mean(x**2, axis=-1, keepdims=True) + 1e-5)
    return tf.matmul(x / std * ours.scale + ours.offset, kernel)

  def derivatives(x, function, variables):
    with tf.GradientTape() as outer:
      outer.watch(x)
      with tf.GradientTape() as inner:
        inner.watch(x)
        y = function(x)
        value = tf.reduce_sum(tf.sin(y))
      slope = inner.gradient(value, x)
      roughness = tf.reduce_sum(slope**2)
    second = outer.gradient(roughness, [x, *variables])
    return [y, slope, *(tf.squeeze(g) for g in second)]

  x = _rows()
  run = tf.function(derivatives) if form == 'compiled' else derivatives
  y, slope, *second = run(x, our_product, ours.trainable_variables)
  keras_y, keras_slope, *_ = derivatives(
      x, keras_product, keras_layer.trainable_variables)
  np.testing.assert_allclose(y, keras_y, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(slope, keras_slope, rtol=1e-4, atol=1e-5)
  expected = derivatives(x, written_out, ours.trainable_variables)[2:]
  for our_one, expected_one in zip(second, expected):
    np.testing.assert_allclose(our_one, expected_one, rtol=2e-3, atol=2e-4)


def test_a_whole_step_can_be_compiled():
  def slope(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = ensemble_layers.EnsembleDivision(rectify=True)([x])[0]
      value = tf.reduce_sum(tf.sin(y))
    return tape.gradient(value, x)

  np.testing.assert_allclose(
      tf.function(slope, jit_compile=True)(_rows()), slope(_rows()),
      rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('wrap', [lambda f: f, tf.function])
def test_a_row_without_spread_has_finite_gradients(wrap):
  def run(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = ensemble_layers.EnsembleDivision(rectify=True)([x])[0]
    return y, tape.gradient(y, x)

  y, slope = wrap(run)(tf.zeros([2, 7]))
  assert np.isfinite(y).all()
  assert np.isfinite(slope).all()


def test_a_normalised_dense_layer_is_dense_after_norm():
  _, norm = _keras_and_our_norm()
  dense = ensemble_layers.EnsembleDense(1, 3, norm=norm, seed=0)
  x = ensemble_layers.EnsembleDivision()([_rows()])
  expected = tf.matmul(norm(x)[0], dense(x) and dense.kernel[0]) + 0.1
  np.testing.assert_allclose(dense(x)[0], expected, rtol=1e-4, atol=1e-5)


def _parameters(observation_size, action_size, num_members, head):
  observation = tensor_spec.TensorSpec([observation_size], tf.float32)
  action = tensor_spec.BoundedTensorSpec([action_size], tf.float32, -1, 1)
  critic = ensemble_critic_network.EnsembleCriticNetwork(
      (observation, action), num_members=num_members, head=head)
  critic.create_variables()
  actor = actor_network.tanh_gaussian_actor(observation, action)
  actor.create_variables()
  sizes = [sum(v.shape.num_elements() for v in net.trainable_variables)
           for net in (critic, actor)]
  return 2 * sizes[0] + sizes[1]


@pytest.mark.parametrize('sizes, num_members, expected', [
    ((17, 6), 10, 2_898_976), ((11, 3), 50, 13_704_298),
    ((11, 3), 500, 135_817_198)])
def test_parameters_of_point_ensembles_as_the_paper_counts(
    sizes, num_members, expected):
  assert _parameters(*sizes, num_members, heads.PointHead) == expected


@pytest.mark.parametrize('sizes, expected', [((17, 6), 1.52), ((11, 3), 1.50)])
def test_parameters_of_drvf_as_the_paper_counts(sizes, expected):
  parameters = _parameters(*sizes, 5, heads.BayesianHead)
  assert round(parameters / 1e6, 2) == expected


def _with_constant(features):
  """Appends the constant feature that the head's bias is the weight of."""
  return np.concatenate([features, np.ones([len(features), 1])],
                        axis=1).astype(np.float32)


def _train_head(features, steps=1500):
  """Minimises the ELBO of Eq. (10) on fixed features, bias included."""
  rows = len(features)
  head = heads.BayesianHead(1, seed=0)
  psi = [tf.constant(features, tf.float32)]
  targets = tf.constant(features.sum(axis=1)[np.newaxis], tf.float32)
  head.sample(psi)
  optimizer = tf.keras.optimizers.legacy.Adam(
      tf.keras.optimizers.schedules.CosineDecay(0.05, steps))

  @tf.function
  def train():
    for step in tf.range(steps):
      with tf.GradientTape() as tape:
        samples = head.sample(psi, num_samples=64, seed=tf.stack([step, 0]))
        # −log-likelihood with unit noise is N/2 times the mean square.
        loss = tf.reduce_mean(terms.bellman_error(samples, targets))
        loss += 2.0 / rows * tf.reduce_sum(head.kl_divergence())
      gradients = tape.gradient(loss, head.trainable_variables)
      optimizer.apply_gradients(zip(gradients, head.trainable_variables))

  train()
  return head, head.posterior_std().numpy()[0]


def _precision(features):
  psi = _with_constant(features)
  return psi.T @ psi + np.eye(psi.shape[1])


def _penalties(head, queries, features):
  """(variational std, exact Γ of Eq. (11)) at the queries."""
  _, variance = head.moments([tf.constant(queries, tf.float32)])
  exact = statistics.exact_lcb_penalty(
      tf.constant(_with_constant(queries)),
      tf.constant(_with_constant(features)))
  return np.sqrt(variance[0]), exact.numpy()


def test_theorem_1_on_orthogonal_features():
  rng = np.random.default_rng(0)
  columns = rng.normal(size=[12, 4])
  # Orthogonal to each other and to the constant feature: ΨᵀΨ is diagonal.
  basis, _ = np.linalg.qr(columns - columns.mean(axis=0))
  features = basis * [1.0, 2.0, 4.0, 8.0]
  head, std = _train_head(features)
  np.testing.assert_allclose(std, np.diag(_precision(features))**-0.5,
                             rtol=0.05)
  variational, exact = _penalties(head, rng.normal(size=[10, 4]), features)
  np.testing.assert_allclose(variational, exact, rtol=0.05)


def test_theorem_1_on_correlated_features_reaches_the_diagonal_only():
  rng = np.random.default_rng(1)
  features = rng.normal(size=[20, 1]) + 0.2 * rng.normal(size=[20, 3])
  head, std = _train_head(features)
  np.testing.assert_allclose(std, np.diag(_precision(features))**-0.5,
                             rtol=0.05)
  # Across the direction the data lie in, the exact posterior is far wider:
  # a mean-field one is too sure there.
  variational, exact = _penalties(head, np.array([[1.0, -1.0, 0.0]]), features)
  assert exact[0] > 1.5 * variational[0]


@pytest.mark.parametrize('kwargs, match', [
    (dict(num_members=0), 'num_members'), (dict(l2=-1.0), 'l2'),
    (dict(head=lambda m, seed: heads.BayesianHead(m, initial_std=0.0)),
     'initial_std')])
def test_bad_values_are_named(kwargs, match):
  with pytest.raises(ValueError, match=match):
    _critic(**kwargs)


@pytest.mark.parametrize('shape', [[], [3, 3]])
def test_observation_of_the_wrong_rank_is_named(shape):
  spec = (tensor_spec.TensorSpec(shape, tf.float32), fakes.ACTION_SPEC)
  with pytest.raises(ValueError, match='observation'):
    ensemble_critic_network.EnsembleCriticNetwork(spec)


@pytest.mark.parametrize('stacked', [False, True])
def test_hidden_layers_in_bfloat16_heads_in_float32(stacked):
  exact = _critic(stacked=stacked).uncertainty(_inputs())
  policy = tf.keras.mixed_precision.global_policy()
  tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')
  try:
    critic = _critic(stacked=stacked)
    with tf.GradientTape() as tape:
      q, _ = critic(_inputs(), num_samples=2)
      loss = tf.reduce_sum(q.samples)
    gradients = tape.gradient(loss, critic.trainable_variables)
    rounded = critic.uncertainty(_inputs())
  finally:
    tf.keras.mixed_precision.set_global_policy(policy)
  assert q.samples.dtype == rounded.std.dtype == tf.float32
  assert all(g.dtype == tf.float32 for g in gradients)
  np.testing.assert_allclose(rounded.std, exact.std, rtol=0.03)
  assert np.any(rounded.std != exact.std)
