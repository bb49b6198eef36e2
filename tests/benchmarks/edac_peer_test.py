"""EDAC in PyTorch: its line in the table, its start, its numbers."""
import dataclasses

import numpy as np
import pytest

from drvf_tf import errors
from drvf_tf.benchmark import (
  edac_peer,
  method_cost,
  peer_check,
  peers,
  step_cost,
)
from drvf_tf.train import methods

_SMALL = ['EnsembleCriticNetwork.hidden_units=(8,)',
          'tanh_gaussian_actor.hidden_units=(8,)', 'train_eval.batch_size=4']
_SIZES = step_cost.Sizes(
    members=4, batch=6, observation=3, action=2, hidden=(8,))


@pytest.fixture(name='prepared', scope='module')
def _prepared(tmp_path_factory):
  """(The setup by group and name, what our three steps from it gave)."""
  path = tmp_path_factory.mktemp('edac') / 'setup.npz'
  ours = peer_check.prepare_edac(path, _SIZES)
  groups = {}
  with np.load(path, allow_pickle=False) as file:
    for key in file.files:
      group, name = key.split('/')
      groups.setdefault(group, {})[name] = file[key].astype(np.float64)
  return groups, ours['losses/all']


def _agent(row, *bindings):
  row = method_cost.row_of(row)
  return methods.agent_of(row.files, [*_SMALL, *bindings], *row.sizes)


def _policy(actor, x, noise):
  """(a, log π(a|s)) by the density of a Gaussian and the slope of tanh."""
  x = np.maximum(x @ actor['kernel_0'] + actor['bias_0'], 0.0)
  mean, log_std = np.split(x @ actor['kernel_1'] + actor['bias_1'], 2, axis=1)
  std = np.exp(np.clip(log_std, -5.0, 2.0))
  action = np.tanh(mean + std * noise)
  density = np.exp(-noise**2 / 2) / (std * np.sqrt(2.0 * np.pi))
  return action, np.log(density / (1.0 - action**2)).sum(1)


def _member(critic, j, x):
  """(Q_j, ∂Q_j/∂x) of one hidden layer."""
  hidden = x @ critic['kernel_0'][j] + critic['bias_0'][j]
  weights = critic['kernel_1'][j][:, 0]
  q = np.maximum(hidden, 0.0) @ weights + critic['bias_1'][j, 0, 0]
  return q, ((hidden > 0) * weights) @ critic['kernel_0'][j].T


def _similarity(gradients):
  """Sum of cosines over ordered pairs, over their number less one: `[B]`."""
  total = 0.0
  for i, one in enumerate(gradients):
    for j, other in enumerate(gradients):
      if i != j:
        total += (one * other).sum(1) / (
            np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1))
  return total / (len(gradients) - 1)


def test_the_setup_has_what_our_first_step_draws(prepared):
  setup, losses = prepared
  batch, hyper, drawn = setup['batch'], setup['hyper'], setup['noise_0']
  log_alpha = setup['alpha']['log_alpha']
  action, log_pi = _policy(
      setup['actor'], batch['next_observation'], drawn['next_action'])
  following = np.hstack([batch['next_observation'], action])
  value = np.min([_member(setup['target'], j, following)[0]
                  for j in range(4)], axis=0) - np.exp(log_alpha) * log_pi
  targets = batch['reward'] + 0.99 * batch['discount'] * value
  q, gradients = zip(*(
      _member(setup['critic'], j,
              np.hstack([batch['observation'], batch['action']]))
      for j in range(4)))
  similarity = _similarity(
      [gradients[int(j)][:, 3:] for j in drawn['chosen']])
  td = np.square(np.array(q) - targets).mean(1).sum()
  np.testing.assert_allclose(losses[0, 0], td + similarity.mean(), rtol=1e-5)
  assert abs(similarity.mean()) > 1e-3 * td  # a hundred tolerances
  _, log_pi = _policy(setup['actor'], batch['observation'], drawn['action'])
  np.testing.assert_allclose(
      losses[0, 2], log_alpha * (-log_pi.mean() - hyper['target_entropy']),
      rtol=1e-5)


def test_the_hyper_parameters_are_those_of_the_gin_files(prepared):
  setup, _ = prepared
  np.testing.assert_allclose(
      [setup['hyper'][name] for name in (
          'gamma', 'tau', 'eta', 'learning_rate', 'target_entropy')],
      [0.99, 0.005, 1.0, 3e-4, -2.0], rtol=1e-6)
  chosen = [setup[f'noise_{step}']['chosen'] for step in range(3)]
  assert all(len(set(members)) == 2 for members in chosen)  # dim A of four


def test_edac_alone_has_the_peer():
  assert edac_peer.is_edac(_agent('edac_10'))
  assert not edac_peer.is_edac(_agent('sac_n_10'))
  assert not edac_peer.is_edac(_agent('drvf_3'))


def test_its_line_is_below_ours(fake_python):
  shown = method_cost.run(['edac_10', 'sac_n_10'], 1, bindings=_SMALL,
                          peer_python=fake_python)
  head, ours, peer, other = shown.splitlines()
  assert ours.startswith('EDAC 10, halfcheetah  ')
  assert peer.startswith('EDAC 10, halfcheetah, PyTorch ')
  assert other.startswith('SAC-N 10, halfcheetah ')
  assert peer.split()[4] == '2.0'
  assert peer.split()[5:] == ours.split()[4:]  # operations, parameters
  assert len(head) == len(ours) == len(peer) == len(other)


def test_a_peer_without_edac_is_one_sentence(fake_python):
  with pytest.raises(errors.UserError, match='=sac_n_10 has none: add edac_10'):
    method_cost.run(['sac_n_10'], 1, bindings=_SMALL, peer_python=fake_python)


@pytest.mark.parametrize('binding, what', [
    ('EnsembleCriticNetwork.layer_norm=True', 'normalised layers'),
    ('tanh_gaussian_actor.layer_norm=True', 'normalised layers'),
    ('EnsembleCriticNetwork.head=@BayesianHead', '.*or a posterior'),
    ('build_agent.actor_learning_rate=1e-4', 'rates that change or differ'),
    ('build_agent.actor_learning_rate=@SettlingRate()', 'rates that change'),
    ('EnsembleSacAgent.gradient_clipping=1.0', 'clipped gradients'),
    ('EnsembleSacAgent.acting_tau=0.5', 'an averaged actor'),
    ('EnsembleSacAgent.target_update_period=2', 'a target that waits'),
])
def test_what_the_peer_has_not_is_named(tmp_path, binding, what):
  agent = _agent('edac_10', binding)
  with pytest.raises(errors.UserError, match=f'without {what}.*: leave that'):
    edac_peer.save_setup(tmp_path / 'setup.npz', agent, None)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    not peers.PYTHON.exists(), reason='PyTorch comes with `make peers`')
@pytest.mark.parametrize('members', [2, 5])  # dim A, and more than that
def test_pytorch_computes_what_we_compute(tmp_path, members):
  differences = peer_check.check_edac(
      str(peers.PYTHON), tmp_path,
      dataclasses.replace(peer_check.EDAC_SIZES, members=members))
  assert list(differences) == [peers.EDAC]
  assert all(map(peer_check.agrees, differences.values())), (
      peer_check.table(differences))
