"""Eqs. (14)–(17) through the whole agent, by hand-computed numbers.

Two linear members on one state s and one action a, ψ = (s, a, 1):
μ_0 = (1, 2, 3), μ_1 = (−1, 0, 1), all σ = 1, and two draws per member with
noise +1 and −1 on every weight, so that Q^(k) = ψᵀμ ± (s + a + 1). The policy
gives a = 0.5 always, with log π = log N(0|0,1) − log(1 − 0.25).
"""
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step, trajectory
from tf_agents.trajectories import time_step as ts

from drvf_tf.agents import drvf_agent
from drvf_tf.losses import backups, terms
from drvf_tf.networks import (
  actor_network,
  ensemble_critic_network,
  heads,
  noise,
)

LOG_PI = -0.5 * np.log(2 * np.pi) - np.log(0.75)
OBSERVATION = tensor_spec.TensorSpec([1], tf.float32)
ACTION = tensor_spec.BoundedTensorSpec([1], tf.float32, -1.0, 1.0)

# Row 0: (s, a) = (1, 1), r = 10, s' = 2. Row 1: (0, −1), r = −1, terminal.
BATCH = trajectory.Transition(
    ts.TimeStep(tf.ones([2], tf.int32), tf.zeros([2]), tf.ones([2]),
                tf.constant([[1.], [0.]])),
    policy_step.PolicyStep(tf.constant([[1.], [-1.]]), (), ()),
    ts.TimeStep(tf.ones([2], tf.int32), tf.constant([10., -1.]),
                tf.constant([1., 0.]), tf.constant([[2.], [5.]])))

# At (2, 0.5): member 0 gives 6 ± 3.5, member 1 gives −1 ± 3.5.
SHARED_TARGET = 10 + 0.9 * (-4.5 - LOG_PI)
OWN_TARGETS = (10 + 0.9 * (2.5 - LOG_PI), 10 + 0.9 * (-4.5 - LOG_PI))
OWN_MEAN_TARGETS = (10 + 0.9 * (6.0 - LOG_PI), 10 + 0.9 * (-1.0 - LOG_PI))
# KL with σ = 1 is |μ|²/2: 7 and 1. The scale is 1/num_batches = 1/4.
KL = (7 + 1) / 4
# At (1, 0.5): 5 ± 2.5 and 0 ± 2.5; at (0, 0.5): 4 ± 1.5 and 1 ± 1.5.
POOLED = (np.sqrt(12.5) + np.sqrt(4.5)) / 2
PER_MEMBER = ((2.5 + 2.5) + (1.5 + 1.5)) / 2


def _td(target_0, target_1):
  """Bellman error with each member's target in row 0; row 1's is −1."""
  # At (1, 1): 6 ± 3 and 0 ± 3. At (0, −1) both draws give 1, twice.
  row_0 = (((9 - target_0)**2 + (3 - target_0)**2) / 2
           + ((3 - target_1)**2 + (-3 - target_1)**2) / 2)
  row_1 = (1 + 1)**2 + (1 + 1)**2
  return (row_0 + row_1) / 2


@pytest.fixture(name='make_agent')
def _make_agent(monkeypatch):
  def plus_minus(self, mean, std, noise):
    del self
    pair = tf.concat([mean + std, mean - std], axis=-1)  # [M, d + 1, 2]
    return tf.tile(pair, [1, 1, noise.shape[-1] // 2])

  monkeypatch.setattr(heads.BayesianHead, '_draw', plus_minus)
  monkeypatch.setattr(noise.Draws, 'normal',
                      lambda self, shape: tf.zeros(shape))

  def make(**kwargs):
    critic = ensemble_critic_network.EnsembleCriticNetwork(
        (OBSERVATION, ACTION), num_members=2, hidden_units=())
    actor = actor_network.tanh_gaussian_actor(OBSERVATION, ACTION, ())
    sgd = lambda: tf.keras.optimizers.legacy.SGD(0.1)  # noqa: E731
    agent = drvf_agent.DRVFAgent(
        ts.time_step_spec(OBSERVATION), ACTION, critic, actor, sgd(), sgd(),
        sgd(), num_batches=4.0, eta_q=2.0, eta_ood=0.5, num_samples=2,
        num_ood_actions=3, gamma=0.9, **kwargs)
    loc, rho = critic.trainable_variables
    loc.assign([[[1.], [2.], [3.]], [[-1.], [0.], [1.]]])
    rho.assign(tf.fill(rho.shape, float(np.log(np.e - 1))))  # softplus is 1
    kernel, bias = actor.trainable_variables
    kernel.assign(tf.zeros_like(kernel))
    bias.assign([np.arctanh(0.5), 0.0])
    agent.initialize()
    return agent

  return make


def _terms(agent):
  return {k: float(v) for k, v in agent.loss(BATCH).extra.items()}


def test_eq_16_with_shared_targets(make_agent):
  extra = _terms(make_agent(repulsion=terms.pooled_std))
  td = _td(SHARED_TARGET, SHARED_TARGET)
  assert extra['td_loss'] == pytest.approx(td, rel=1e-5)
  assert extra['kl'] == pytest.approx(KL, rel=1e-5)
  assert extra['repulsion'] == pytest.approx(POOLED, rel=1e-5)
  assert extra['critic_loss'] == pytest.approx(
      2.0 * (td + KL) - 0.5 * POOLED, rel=1e-5)


@pytest.mark.parametrize('backup, targets', [
    (backups.independent_minimum, OWN_TARGETS),
    (backups.independent_mean, OWN_MEAN_TARGETS)])
def test_eq_16_with_independent_targets(make_agent, backup, targets):
  extra = _terms(make_agent(backup=backup, repulsion=terms.per_member_std))
  td = _td(*targets)
  assert extra['td_loss'] == pytest.approx(td, rel=1e-5)
  assert extra['repulsion'] == pytest.approx(PER_MEMBER, rel=1e-5)
  assert extra['critic_loss'] == pytest.approx(
      2.0 * (td + KL) - 0.5 * PER_MEMBER, rel=1e-5)
  # The actor still looks at the minimum over all members.
  assert extra['actor_loss'] == pytest.approx(LOG_PI + 1.5, rel=1e-5)


def test_eq_14_is_of_the_target_network(make_agent):
  agent = make_agent()
  loc = agent.target_critic_network.trainable_variables[0]
  loc.assign_add([[[0.], [0.], [1.]]] * 2)  # the biases
  target = SHARED_TARGET + 0.9
  assert _terms(agent)['td_loss'] == pytest.approx(
      _td(target, target), rel=1e-5)


def test_eq_14_without_its_entropy(make_agent):
  target = 10 + 0.9 * -4.5
  extra = _terms(make_agent(backup_entropy=0.0))
  assert extra['td_loss'] == pytest.approx(_td(target, target), rel=1e-5)
  # The actor keeps its own.
  assert extra['actor_loss'] == pytest.approx(LOG_PI + 1.5, rel=1e-5)


def test_eq_16_slope(make_agent):
  agent = make_agent(repulsion=terms.pooled_std)
  loc = agent.critic_network.trainable_variables[0]
  with tf.GradientTape() as tape:
    loss = agent.critic_loss(BATCH.time_step, BATCH.action_step.action,
                             BATCH.next_time_step)
  slope = tape.gradient(loss, loc).numpy()[:, -1, 0]  # of each member's bias
  # TD: mean over rows of 2·(mean over draws of Q − target); KL: μ/4;
  # repulsion: Σ (Q − mean)/(4·std) over the member's draws, mean over rows.
  td = np.array([(2 * (6 - SHARED_TARGET) + 2 * (1 + 1)) / 2,
                 (2 * (0 - SHARED_TARGET) + 2 * (1 + 1)) / 2])
  kl = np.array([3.0, 1.0]) / 4
  apart = (2 * 2.5 / (4 * np.sqrt(12.5)) + 2 * 1.5 / (4 * np.sqrt(4.5))) / 2
  repulsion = np.array([apart, -apart])
  np.testing.assert_allclose(slope, 2 * (td + kl) - 0.5 * repulsion, rtol=1e-5)


def test_eq_17(make_agent):
  extra = _terms(make_agent())
  # min over j, k at (1, 0.5) is −2.5, at (0, 0.5) is −0.5.
  assert extra['actor_loss'] == pytest.approx(LOG_PI + 1.5, rel=1e-5)
  assert extra['entropy'] == pytest.approx(-LOG_PI, rel=1e-5)


def test_metrics(make_agent):
  extra = _terms(make_agent())
  # On data: means 6, 0 and 1, 1; on policy actions 5, 0 and 4, 1.
  assert extra['q_data'] == pytest.approx(2.0)
  assert extra['q_policy'] == pytest.approx(2.5)
  # Variance within is |ψ|²: 3 and 2 on data; between is 9 and 0.
  assert extra['q_std_data'] == pytest.approx(
      (np.sqrt(12.) + np.sqrt(2.)) / 2, rel=1e-5)
  # Policy rows: within 2.25 and 1.25, between 6.25 and 2.25.
  assert extra['q_std_policy'] == pytest.approx(
      (np.sqrt(8.5) + np.sqrt(3.5)) / 2, rel=1e-5)
  assert extra['posterior_std'] == pytest.approx(1.0, rel=1e-5)
  assert extra['temperature'] == pytest.approx(1.0)
  # Row 0 alone differs: 9, 3, 3, −3 along one function.
  assert extra['effective_members'] == pytest.approx(1.0, rel=1e-5)


def test_ood_batch_size_takes_the_first_states(make_agent):
  extra = _terms(make_agent(ood_batch_size=1))
  assert extra['repulsion'] == pytest.approx(2.5 + 2.5, rel=1e-5)


def test_a_train_step_moves_each_part_as_its_loss_says(make_agent):
  agent = make_agent()
  target_before = agent.target_critic_network.trainable_variables[0].numpy()
  agent.train(BATCH)
  # Entropy −LOG_PI is above its target −1: the temperature falls.
  assert float(agent._log_alpha) == pytest.approx(
      -0.1 * (-LOG_PI + 1.0), rel=1e-5)
  online = agent.critic_network.trainable_variables[0].numpy()
  np.testing.assert_allclose(
      agent.target_critic_network.trainable_variables[0],
      0.995 * target_before + 0.005 * online, rtol=1e-5)
