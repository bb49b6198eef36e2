"""A DRVF train step in JAX, compiled as a whole, in two forms.

The trunk runs once for all rows, n draws of the last layer are one product,
and data and OOD rows are one pass; what nobody uses, the compiler drops. The
forms differ in how M members become products: `members` loops over them,
`vmap` maps over stacked parameters.
"""
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np


def _draw(head, i, noise):
  """w = μ + softplus(ρ)·ε: weights (i = 0) or bias (i = 1)."""
  return head[f'loc_{i}'] + jax.nn.softplus(head[f'rho_{i}']) * noise


def _layers(network):
  return sum(name.startswith('kernel') for name in network)


def _layer_norm(x, scale, offset):
  x = x - x.mean(-1, keepdims=True)
  return x * jax.lax.rsqrt(
      jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale + offset


def _member(member, x, weights, bias):
  """Q of one member, `[R, n]`."""
  for i in range(_layers(member)):
    x = jax.nn.relu(x @ member[f'kernel_{i}'] + member[f'bias_{i}'])
    if f'scale_{i}' in member:
      x = _layer_norm(x, member[f'scale_{i}'], member[f'offset_{i}'])
  return x @ _draw(member, 0, weights) + _draw(member, 1, bias)


class Members:
  """One dictionary of arrays a member."""

  @staticmethod
  def load(arrays):
    """Stacked arrays to the dictionaries."""
    return [{k: jnp.array(v[j]) for k, v in arrays.items()}
            for j in range(len(arrays['kernel_0']))]

  @staticmethod
  def dump(members):
    """The dictionaries to stacked arrays."""
    return {k: np.stack([member[k] for member in members])
            for k in members[0]}

  @staticmethod
  def q(members, rows, weights, bias):
    """`[M, R, n]`; weights `[M, d, n]` and bias `[M, 1, n]` are noise."""
    return jnp.stack([_member(member, rows, weights[j], bias[j])
                      for j, member in enumerate(members)])


class Stacked:
  """One dictionary for all."""

  @staticmethod
  def load(arrays):
    """Stacked arrays to the dictionary, in a list."""
    return [{k: jnp.array(v) for k, v in arrays.items()}]

  @staticmethod
  def dump(stacked):
    """The dictionary in the list."""
    return stacked[0]

  @staticmethod
  def q(stacked, rows, weights, bias):
    """`[M, R, n]`; weights `[M, d, n]` and bias `[M, 1, n]` are noise."""
    return jax.vmap(_member, (0, None, 0, 0))(stacked[0], rows, weights, bias)


FORMS = {'members': Members, 'vmap': Stacked}


def _policy(actor, x, noise):
  """(tanh(x) for x ~ N(μ(s), σ(s)), log π(tanh(x)|s))."""
  last = _layers(actor) - 1
  for i in range(last):
    x = jax.nn.relu(x @ actor[f'kernel_{i}'] + actor[f'bias_{i}'])
  x = x @ actor[f'kernel_{last}'] + actor[f'bias_{last}']
  mean, log_std = jnp.split(x, 2, axis=-1)
  log_std = jnp.clip(log_std, -5.0, 2.0)
  x = mean + jnp.exp(log_std) * noise
  log_slope = 2.0 * (math.log(2.0) - x - jax.nn.softplus(-2.0 * x))
  log_prob = -0.5 * noise**2 - log_std - 0.5 * math.log(2.0 * math.pi)
  return jnp.tanh(x), (log_prob - log_slope).sum(-1)


def _kl(part):
  """KL(q(w) || N(0, I)) over all weights and biases of a dictionary."""
  total = 0.0
  for i in range(2):
    std = jax.nn.softplus(part[f'rho_{i}'])
    total += (0.5 * (std**2 + part[f'loc_{i}']**2 - 1.0) - jnp.log(std)).sum()
  return total


def _targets(q, state, batch, noise, hyper):
  """Eq. (14), `[B]`."""
  observation = batch['next_observation']
  action, log_pi = _policy(state['actor'], observation, noise['next_action'])
  samples = q(state['target'], jnp.concatenate([observation, action], 1),
              noise['target_0'], noise['target_1'])
  value = samples.min((0, 2)) - jnp.exp(state['alpha']) * log_pi
  return batch['reward'] + hyper['gamma'] * batch['discount'] * value


def _rows(actor, batch, noise):
  """Data and OOD pairs, `[B + K·S, obs + act]`."""
  actions, states, size = noise.shape
  observation = batch['observation']
  some = observation[::len(observation) // states][:states]
  ood, _ = _policy(actor, some, noise)  # [K, S, act]
  return jnp.concatenate([
      jnp.concatenate([observation, batch['action']], 1),
      jnp.concatenate([jnp.tile(some, [actions, 1]), ood.reshape(-1, size)],
                      1)])


def _critic_loss(critic, q, rows, targets, noise, hyper):
  """Eq. (16)."""
  samples = q(critic, rows, noise['critic_0'], noise['critic_1'])
  batch, n = len(targets), samples.shape[2] // 2
  errors = jnp.square(samples[:, :batch, :n] - targets[:, None])
  spread = jnp.sqrt(samples[:, batch:, n:].var(2) + 1e-8)
  kl = sum(_kl(part) for part in critic)
  return (hyper['eta_q'] * (errors.mean((1, 2)).sum() + hyper['kl_scale'] * kl)
          - hyper['eta_ood'] * spread.mean(1).sum())


def _actor_loss(actor, q, critic, log_alpha, batch, noise):
  """(Eq. (17), log π)."""
  observation = batch['observation']
  action, log_pi = _policy(actor, observation, noise['action'])
  samples = q(critic, jnp.concatenate([observation, action], 1),
              noise['actor_0'], noise['actor_1'])
  return (jnp.exp(log_alpha) * log_pi - samples.min((0, 2))).mean(), log_pi


def _alpha_loss(log_alpha, log_pi, target_entropy):
  return log_alpha * (-log_pi - target_entropy).mean()


def _adam(parameters, gradients, moments, step, hyper):
  """(parameters, moments) after a step of Adam."""
  first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
  second = jax.tree.map(
      lambda v, g: 0.999 * v + 0.001 * g**2, moments[1], gradients)
  rate = (hyper['learning_rate'] * jnp.sqrt(1.0 - 0.999**step)
          / (1.0 - 0.9**step))
  new = jax.tree.map(
      lambda p, m, v: p - rate * m / (jnp.sqrt(v) + hyper['epsilon']),
      parameters, first, second)
  return new, (first, second)


def _step(state, noise, q, batch, hyper):
  """The state after a step, and losses of critic, actor, alpha."""
  step = state['step'] + 1.0
  moments = state['moments']
  loss, gradient = {}, {}
  loss['critic'], gradient['critic'] = jax.value_and_grad(_critic_loss)(
      state['critic'], q, _rows(state['actor'], batch, noise['ood_action']),
      _targets(q, state, batch, noise, hyper), noise, hyper)
  new, new_moments = {}, {}
  new['critic'], new_moments['critic'] = _adam(
      state['critic'], gradient['critic'], moments['critic'], step, hyper)
  (loss['actor'], log_pi), gradient['actor'] = jax.value_and_grad(
      _actor_loss, has_aux=True)(
          state['actor'], q, new['critic'], state['alpha'], batch, noise)
  loss['alpha'], gradient['alpha'] = jax.value_and_grad(_alpha_loss)(
      state['alpha'], log_pi, hyper['target_entropy'])
  for name in ('actor', 'alpha'):
    new[name], new_moments[name] = _adam(
        state[name], gradient[name], moments[name], step, hyper)
  new['target'] = jax.tree.map(
      lambda old, online: old + hyper['tau'] * (online - old),
      state['target'], new['critic'])
  return {**new, 'moments': new_moments, 'step': step}, loss


class Peer:
  """The state, and the compiled step."""

  def __init__(self, setup, form):
    self._form = form
    hyper = {k: float(v) for k, v in setup['hyper'].items()}
    batch = {k: jnp.array(v) for k, v in setup['batch'].items()}
    shapes = {k: v.shape for k, v in setup['noise_0'].items()}
    self._state = {
        'critic': form.load(setup['critic']),
        'target': form.load(setup['target']),
        'actor': {k: jnp.array(v) for k, v in setup['actor'].items()},
        'alpha': jnp.array(setup['alpha']['log_alpha']),
        'step': jnp.zeros([]),
    }
    self._state['moments'] = {
        name: tuple(jax.tree.map(jnp.zeros_like, self._state[name])
                    for _ in range(2))
        for name in ('critic', 'actor', 'alpha')}
    self._key = jax.random.key(0)
    step = functools.partial(_step, q=form.q, hyper=hyper)

    def noisy(state, key, batch):
      key, *keys = jax.random.split(key, 1 + len(shapes))
      noise = {name: jax.random.normal(own, shape)
               for own, (name, shape) in zip(keys, shapes.items())}
      return (*step(state, noise, batch=batch), key)

    self._batch = batch
    self._given = jax.jit(step, donate_argnums=0)
    self._noisy = jax.jit(noisy, donate_argnums=(0, 1))

  def run(self, count):
    """Steps with noise of its own."""
    for _ in range(count):
      self._state, losses, self._key = self._noisy(
          self._state, self._key, self._batch)
    jax.block_until_ready((self._state, losses))

  def update(self, noise):
    """A step with noise from outside; losses of critic, actor, alpha."""
    self._state, losses = self._given(self._state, noise, batch=self._batch)
    return [float(losses[name]) for name in ('critic', 'actor', 'alpha')]

  def state(self):
    """Arrays by group and name: parameters, and Adam's first moments."""
    state, moments = self._state, self._state['moments']
    groups = {
        'critic': self._form.dump(state['critic']),
        'target': self._form.dump(state['target']),
        'actor': state['actor'],
        'alpha': {'log_alpha': state['alpha']},
        'critic_moment': self._form.dump(moments['critic'][0]),
        'actor_moment': moments['actor'][0],
    }
    return {group: {k: np.asarray(v) for k, v in arrays.items()}
            for group, arrays in groups.items()}
