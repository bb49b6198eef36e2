"""Peers: the protocol with a fake, the numbers with the real ones."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.benchmark import peer_check, peers, step_cost, timing
from drvf_tf.networks import heads, noise

_BENCHMARK = pathlib.Path(__file__).parents[2] / 'launch' / 'benchmark.py'
_SIZES = step_cost.Sizes(
    members=2, samples=3, ood_actions=4, ood_states=5, batch=10, observation=3,
    action=2, hidden=(6, 7), layer_norm=True)


@pytest.fixture(name='setup', scope='module')
def _setup(tmp_path_factory):
  path = tmp_path_factory.mktemp('setup') / 'setup.npz'
  peers.save_setup(path, step_cost.agent(_SIZES), _SIZES, steps=2)
  return path


def _benchmark(*flags):
  return subprocess.run(
      [sys.executable, str(_BENCHMARK), '--members=2', '--samples=2',
       '--batch=4', '--ood_actions=2', '--width=8', '--layers=1',
       '--candidate=drvf', '--rounds=1', *flags],
      capture_output=True, text=True, check=False, env=dict(os.environ))


def test_a_peer_says_what_its_steps_cost(setup, fake_python):
  with peers.Peer('torch_members', setup, fake_python) as peer:
    assert peer.run(10) == timing.Cost(cpu=0.02, wall=0.04)
    assert peer.run(1) == timing.Cost(cpu=0.002, wall=0.004)


def test_a_peer_hands_back_arrays(setup, fake_python, tmp_path):
  with peers.Peer('torch_members', setup, fake_python) as peer:
    after = peer.check(tmp_path / 'after.npz')
  assert after['critic/kernel_1'].shape == (2, 6, 7)


def test_a_peer_that_dies_is_one_sentence(setup, fake_python):
  with peers.Peer('jax_members', setup, fake_python) as peer:
    with pytest.raises(errors.UserError, match='exit code 3.*make peers'):
      peer.run(1)


def test_peers_have_their_lines_in_the_table(fake_python):
  shown = _benchmark('--peers=torch_members,jax_vmap', '--layer_norm=on',
                     f'--peer_python={fake_python}')
  assert shown.returncode == 0, shown.stderr
  _, head, *lines = shown.stdout.splitlines()
  assert 'CPU ms/step  wall ms/step' in head
  names = ['DRVF n=2 LN', 'torch_members n=2 LN', 'jax_vmap n=2 LN',
           'GEMM peak']
  assert [line[:22].strip() for line in lines] == names
  assert lines[1][22:].split()[:2] == ['2.00', '4.00']
  parameters = [line.split()[-1] for line in lines]
  assert parameters[0] == parameters[1] != '0'


@pytest.mark.parametrize('flags, message', [
    (['--peers=torch_members', '--peer_python=/dev/null/none'], 'make peers'),
    (['--peers=tensorflow'], "no peer 'tensorflow': there are torch_members"),
    (['--peers=torch_edac'], 'such as --methods=edac_50'),
    (['--peers=torch_members', '--methods=edac_10'], 'leave --methods out'),
])
def test_errors_are_one_sentence(flags, message):
  shown = _benchmark(*flags)
  assert shown.returncode == 2
  assert shown.stderr.startswith('error: ') and message in shown.stderr
  assert len(shown.stderr.splitlines()) == 1


def test_the_setup_names_every_parameter_once(setup):
  with np.load(setup, allow_pickle=False) as file:
    shapes = {name: file[name].shape for name in file.files}
  assert shapes['critic/kernel_0'] == (2, 5, 6)
  assert shapes['critic/scale_0'] == shapes['target/offset_0'] == (2, 6)
  assert shapes['critic/scale_1'] == shapes['critic/bias_1'] == (2, 7)
  assert shapes['target/loc_0'] == (2, 7, 1)
  assert shapes['target/rho_1'] == (2, 1, 1)
  assert shapes['actor/kernel_2'] == (7, 4)
  assert shapes['noise_1/critic_0'] == (2, 7, 6)  # data's and OOD's draws
  assert shapes['noise_1/ood_action'] == (4, 5, 2)


def test_the_noise_is_what_a_head_draws():
  draws = noise.Draws(tf.constant([1, 2]))
  epsilon = peers._head_noise('head', _SIZES, 3, draws)
  head = heads.BayesianHead(2, initial_std=0.5, mean_range=1.0, seed=0)
  features = np.random.default_rng(0).normal(size=[4, 7]).astype(np.float32)
  samples = head.sample([tf.constant(features)] * 2, 3,
                        noise.Draws(tf.constant([1, 2])).seed())
  loc, bias_loc = np.split(head.variables[0].numpy(), [-1], axis=1)
  weights = loc + 0.5 * epsilon['head_0']
  bias = bias_loc + 0.5 * epsilon['head_1']
  np.testing.assert_allclose(samples, features @ weights + bias, rtol=1e-5,
                             atol=1e-5)


def test_differences_by_hand():
  ours = {'losses/all': np.array([[2.0, -4.0, 1.0]]),
          'critic_moment/kernel_0': np.array([10.0, 0.1]),
          'critic/kernel_0': np.array([5.0, 3.0])}
  theirs = {'losses/all': np.array([[2.0, -4.4, 1.0]]),
            'critic_moment/kernel_0': np.array([10.0, 0.3]),
            'critic/kernel_0': np.array([5.0, 3.5])}
  difference = peer_check.compare(ours, theirs)
  np.testing.assert_allclose(difference, [0.1, 0.02, 0.5], rtol=1e-6)
  assert not peer_check.agrees(difference)
  assert peer_check.agrees(peer_check.compare(ours, ours))
  nan = {**theirs, 'critic/kernel_0': np.array([5.0, np.nan])}
  assert not peer_check.agrees(peer_check.compare(ours, nan))
  with pytest.raises(ValueError, match='critic/kernel_0'):
    peer_check.compare(ours, {k: v for k, v in ours.items()
                              if k != 'critic/kernel_0'})


@pytest.mark.slow
@pytest.mark.timeout(900)  # JAX compiles
@pytest.mark.skipif(
    not peers.PYTHON.exists(), reason='PyTorch and JAX come with `make peers`')
@pytest.mark.parametrize('layer_norm', [False, True])
def test_peers_compute_what_we_compute(tmp_path, layer_norm):
  differences = peer_check.check(
      peers.NAMES, str(peers.PYTHON), tmp_path, layer_norm)
  assert list(differences) == list(peers.NAMES)
  assert all(map(peer_check.agrees, differences.values())), (
      peer_check.table(differences))
