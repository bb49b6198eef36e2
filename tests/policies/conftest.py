"""A small agent, its data and one export that the tests share."""
import numpy as np
import pytest

from drvf_tf import data
from drvf_tf.data import transforms
from drvf_tf.policies import exporting
from tests import fakes


def make_dataset(normalized=True):
  """500 rows in ten episodes, far from mean 0 and std 1."""
  rng = np.random.default_rng(0)
  dataset = data.from_arrays({
      'observations': rng.normal(5.0, 3.0, size=(500, 3)),
      'actions': rng.uniform(-1, 1, (500, 2)),
      'rewards': rng.normal(size=500),
      'terminals': np.zeros(500, bool),
      'timeouts': np.arange(1, 501) % 50 == 0}, 'mine')
  return transforms.normalize_observations(dataset) if normalized else dataset


@pytest.fixture(name='dataset', scope='session')
def _dataset():
  return make_dataset()


@pytest.fixture(name='agent', scope='session')
def _agent():
  agent = fakes.drvf()
  # Weights that do not start near 0: actions and values differ by state.
  rng = np.random.default_rng(1)
  for network in (agent.actor_network, agent.critic_network):
    for variable in network.variables:
      variable.assign_add(rng.normal(0, 0.2, variable.shape))
  return agent


@pytest.fixture(name='exported', scope='session')
def _exported(agent, dataset, tmp_path_factory):
  """The folder of an export, gate at the default quantile, no fallback."""
  folder = tmp_path_factory.mktemp('export') / 'policy'
  exporting.export_policy(
      agent, str(folder), dataset, config='TASK = 1\n', facts={'task': 'mine'})
  return folder
