"""An EDAC train step in PyTorch, eager, in the form that is usual there.

N critics are one stack of `baddbmm`. For the diversity term the batch is
repeated for each of them, and autograd gives ∂Q_j/∂a as a graph of its own.
Adam is the fused one, and the actor's pass leaves the critics' weights without
gradients: neither is usual, and both are faster.
"""
import torch
import torch_peer


def _q(critic, rows):
  """`[N, B, 1]` of rows `[B, in]` that all share, or of own `[N, B, in]`."""
  members, last = len(critic['kernel_0']), torch_peer._layers(critic) - 1
  x = rows.expand(members, -1, -1)
  for i in range(last + 1):
    x = torch.baddbmm(
        critic[f'bias_{i}'].view(members, 1, -1), x, critic[f'kernel_{i}'])
    if i < last:
      x = x.relu_()
  return x


def _similarity(gradients):
  """EDAC, Eq. (8): Σ of cosines over k − 1, `[k, B, act]` to `[B]`.

  A gradient of zero has no direction; the norm's slope there is finite.
  """
  square = gradients.square().sum(-1, keepdim=True)
  unit = (gradients / (square + 1e-20).sqrt()).transpose(0, 1)
  cosines = unit @ unit.transpose(1, 2)  # [B, k, k]
  others = 1.0 - torch.eye(len(gradients))
  return (others * cosines).sum((1, 2)) / (len(gradients) - 1)


class Peer(torch_peer.Peer):
  """Targets, actor and temperature are SAC's; the critics' loss is EDAC's."""

  def __init__(self, setup):
    super().__init__(setup, torch_peer.Stacked)
    self._members = len(setup['critic']['kernel_0'])

  def _own_noise(self):
    chosen, = self._shapes['chosen']
    return {'chosen': torch.randperm(self._members)[:chosen],
            **{k: torch.randn(v) for k, v in self._shapes.items()
               if k != 'chosen'}}

  def _q(self, critic, rows, name, noise):
    del name, noise  # a last layer without a posterior
    return _q(critic[0], rows)

  def _critic_loss(self, beta, noise):
    """Bellman errors of all members, and η · similarity of the drawn ones."""
    targets = self._targets(beta, noise)
    observation, action = self._batch['observation'], self._batch['action']
    q = _q(self._critic[0], torch.cat([observation, action], 1)).squeeze(-1)
    td = (q - targets).square().mean(1).sum()
    drawn = self._action_gradients().index_select(0, noise['chosen'])
    return td + self._hyper['eta'] * _similarity(drawn).mean()

  def _action_gradients(self):
    """∂Q_j/∂a at the data, `[N, B, act]`, to be differentiated once more."""
    observation, action = (
        self._batch[name].repeat(self._members, 1, 1)
        for name in ('observation', 'action'))
    action.requires_grad_()
    q = _q(self._critic[0], torch.cat([observation, action], 2))
    gradients, = torch.autograd.grad(q.sum(), action, create_graph=True)
    return gradients
