"""A DRVF train step in PyTorch, eager, in two forms.

The trunk runs once for all rows, n draws of the last layer are one product,
data and OOD rows are one pass, and the actor's pass leaves the critic's weights
without gradients. The forms differ in how M members become products: `members`
loops over them with `addmm`, `baddbmm` stacks them.
"""
import math

import torch
from torch.nn import functional


def _draw(head, i, noise):
  """w = μ + softplus(ρ)·ε: weights (i = 0) or bias (i = 1)."""
  return torch.addcmul(
      head[f'loc_{i}'], functional.softplus(head[f'rho_{i}']), noise)


def _layers(network):
  return sum(name.startswith('kernel') for name in network)


class Members:
  """One dictionary of tensors a member; products `[R, in]·[in, out]`."""

  @staticmethod
  def load(arrays):
    """Stacked arrays to the dictionaries."""
    return [{k: torch.tensor(v[j]) for k, v in arrays.items()}
            for j in range(len(arrays['kernel_0']))]

  @staticmethod
  def dump(members):
    """The dictionaries to stacked tensors."""
    return {k: torch.stack([member[k] for member in members])
            for k in members[0]}

  @staticmethod
  def q(members, rows, weights, bias):
    """`[M, R, n]`; weights `[M, d, n]` and bias `[M, 1, n]` are noise."""
    return torch.stack([
        Members._one(member, rows, w, b)
        for member, w, b in zip(members, weights, bias)])

  @staticmethod
  def _one(member, x, weights, bias):
    for i in range(_layers(member)):
      x = torch.addmm(member[f'bias_{i}'], x, member[f'kernel_{i}']).relu_()
      if f'scale_{i}' in member:
        x = functional.layer_norm(
            x, x.shape[-1:], member[f'scale_{i}'], member[f'offset_{i}'])
    return torch.addmm(_draw(member, 1, bias), x, _draw(member, 0, weights))


class Stacked:
  """One dictionary for all; products `[M, R, in]·[M, in, out]`."""

  @staticmethod
  def load(arrays):
    """Stacked arrays to the dictionary, in a list."""
    return [{k: torch.tensor(v) for k, v in arrays.items()}]

  @staticmethod
  def dump(stacked):
    """The dictionary in the list."""
    return stacked[0]

  @staticmethod
  def q(stacked, rows, weights, bias):
    """`[M, R, n]`; weights `[M, d, n]` and bias `[M, 1, n]` are noise."""
    critic, = stacked
    x = rows.expand(len(weights), -1, -1)
    for i in range(_layers(critic)):
      x = torch.baddbmm(
          critic[f'bias_{i}'][:, None], x, critic[f'kernel_{i}']).relu_()
      if f'scale_{i}' in critic:
        # Copies x, and is faster all the same than an affine by hand.
        x = torch.stack([
            functional.layer_norm(member, member.shape[-1:], scale, offset)
            for member, scale, offset in zip(
                x, critic[f'scale_{i}'], critic[f'offset_{i}'])])
    return torch.baddbmm(_draw(critic, 1, bias), x, _draw(critic, 0, weights))


FORMS = {'members': Members, 'baddbmm': Stacked}


def _policy(actor, x, noise):
  """(x ~ N(μ(s), σ(s)), log σ(s)); the action is tanh(x)."""
  last = _layers(actor) - 1
  for i in range(last):
    x = torch.addmm(actor[f'bias_{i}'], x, actor[f'kernel_{i}']).relu_()
  x = torch.addmm(actor[f'bias_{last}'], x, actor[f'kernel_{last}'])
  mean, log_std = x.chunk(2, dim=-1)
  log_std = log_std.clamp(-5.0, 2.0)
  return torch.addcmul(mean, log_std.exp(), noise), log_std


def _log_pi(x, log_std, noise):
  """log π(tanh(x)|s), `[B]`."""
  log_slope = 2.0 * (math.log(2.0) - x - functional.softplus(-2.0 * x))
  log_prob = -0.5 * noise.square() - log_std - 0.5 * math.log(2.0 * math.pi)
  return (log_prob - log_slope).sum(-1)


def _kl(part):
  """KL(q(w) || N(0, I)) over all weights and biases of a dictionary."""
  total = 0.0
  for i in range(2):
    std = functional.softplus(part[f'rho_{i}'])
    total += (0.5 * (std.square() + part[f'loc_{i}'].square() - 1.0)
              - std.log()).sum()
  return total


def _tensors(parts):
  return [tensor for part in parts for tensor in part.values()]


class Peer:
  """Networks, optimizers and the step."""

  def __init__(self, setup, form):
    self._form = form
    self._hyper = {k: float(v) for k, v in setup['hyper'].items()}
    self._shapes = {k: v.shape for k, v in setup['noise_0'].items()}
    self._batch = {k: torch.tensor(v) for k, v in setup['batch'].items()}
    self._critic = form.load(setup['critic'])
    self._target = form.load(setup['target'])
    self._actor = {k: torch.tensor(v) for k, v in setup['actor'].items()}
    self._log_alpha = torch.tensor(setup['alpha']['log_alpha'])
    self._critic_adam, self._actor_adam, self._alpha_adam = (
        torch.optim.Adam([t.requires_grad_() for t in tensors], fused=True,
                         lr=self._hyper['learning_rate'],
                         eps=self._hyper['epsilon'])
        for tensors in (_tensors(self._critic), self._actor.values(),
                        [self._log_alpha]))

  def run(self, count):
    """Steps with noise of its own."""
    for _ in range(count):
      self._step(self._own_noise())

  def update(self, noise):
    """A step with noise from outside; losses of critic, actor, alpha."""
    losses = self._step({k: torch.tensor(v) for k, v in noise.items()})
    return [loss.item() for loss in losses]

  def _own_noise(self):
    return {k: torch.randn(v) for k, v in self._shapes.items()}

  def _q(self, critic, rows, name, noise):
    """`[M, R, n]`, of the noise that is the critic's, the target's, …."""
    return self._form.q(critic, rows, noise[f'{name}_0'], noise[f'{name}_1'])

  def _step(self, noise):
    beta = self._log_alpha.detach().exp()
    critic_loss = self._critic_loss(beta, noise)
    self._descend(self._critic_adam, critic_loss)
    actor_loss, log_pi = self._actor_loss(beta, noise)
    self._descend(self._actor_adam, actor_loss)
    alpha_loss = self._log_alpha * (
        -log_pi.detach() - self._hyper['target_entropy']).mean()
    self._descend(self._alpha_adam, alpha_loss)
    with torch.no_grad():
      torch._foreach_lerp_(
          _tensors(self._target), _tensors(self._critic), self._hyper['tau'])
    return critic_loss, actor_loss, alpha_loss

  def _descend(self, adam, loss):
    adam.zero_grad()
    loss.backward()
    adam.step()

  @torch.no_grad()
  def _targets(self, beta, noise):
    """Eq. (14), `[B]`."""
    batch = self._batch
    x, log_std = _policy(
        self._actor, batch['next_observation'], noise['next_action'])
    q = self._q(
        self._target, torch.cat([batch['next_observation'], x.tanh()], 1),
        'target', noise)
    value = q.amin((0, 2)) - beta * _log_pi(x, log_std, noise['next_action'])
    return batch['reward'] + self._hyper['gamma'] * batch['discount'] * value

  @torch.no_grad()
  def _rows(self, noise):
    """Data and OOD pairs, `[B + K·S, obs + act]`."""
    observation = self._batch['observation']
    actions, states, size = noise.shape
    some = observation[::len(observation) // states][:states]
    x, _ = _policy(self._actor, some, noise)  # [K, S, act]
    ood = torch.cat([some.repeat(actions, 1), x.tanh().view(-1, size)], 1)
    return torch.cat(
        [torch.cat([observation, self._batch['action']], 1), ood])

  def _critic_loss(self, beta, noise):
    """Eq. (16)."""
    targets = self._targets(beta, noise)
    q = self._q(
        self._critic, self._rows(noise['ood_action']), 'critic', noise)
    batch, samples = len(targets), q.shape[2] // 2
    td = (q[:, :batch, :samples] - targets[:, None]).square().mean((1, 2)).sum()
    ood = q[:, batch:, samples:]
    # `var` over so few draws is slower.
    variance = (ood - ood.mean(2, keepdim=True)).square().mean(2)
    spread = (variance + 1e-8).sqrt().mean(1).sum()
    kl = sum(_kl(part) for part in self._critic)
    return (self._hyper['eta_q'] * (td + self._hyper['kl_scale'] * kl)
            - self._hyper['eta_ood'] * spread)

  def _actor_loss(self, beta, noise):
    """(Eq. (17), log π)."""
    observation = self._batch['observation']
    x, log_std = _policy(self._actor, observation, noise['action'])
    log_pi = _log_pi(x, log_std, noise['action'])
    frozen = [{k: v.detach() for k, v in part.items()}
              for part in self._critic]
    q = self._q(
        frozen, torch.cat([observation, x.tanh()], 1), 'actor', noise)
    return (beta * log_pi - q.amin((0, 2))).mean(), log_pi

  def state(self):
    """Arrays by group and name: parameters, and Adam's first moments."""
    moments = lambda adam, tensors: {  # noqa: E731
        k: adam.state[v]['exp_avg'] for k, v in tensors.items()}
    groups = {
        'critic': self._form.dump(self._critic),
        'target': self._form.dump(self._target),
        'actor': self._actor,
        'alpha': {'log_alpha': self._log_alpha},
        'critic_moment': self._form.dump(
            [moments(self._critic_adam, part) for part in self._critic]),
        'actor_moment': moments(self._actor_adam, self._actor),
    }
    return {group: {k: v.detach().numpy() for k, v in tensors.items()}
            for group, tensors in groups.items()}
