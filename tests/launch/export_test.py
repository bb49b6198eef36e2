"""launch/export.py on a run folder, and what can be done with the result."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import gin
import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import py_driver
from tf_agents.policies import py_tf_eager_policy

from drvf_tf import envs, errors
from drvf_tf.policies import checking
from drvf_tf.runs import (
    building,
    checkpoints,
    configuration,
    restoring,
    run_folder,
)
from tests.train import tiny_run

_ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(name='run', scope='module')
def _run(tmp_path_factory):
  """A run folder with two checkpoints, as training would have left it."""
  folder = tmp_path_factory.mktemp('run')
  gin.clear_config()
  configuration.parse([tiny_run.GIN_FILE], tiny_run.bindings(
      tiny_run.make_data(tmp_path_factory.mktemp('data')),
      extra=['loading.load.transforms=(@hold_out_episodes,)',
             'hold_out_episodes.fraction=0.5']))
  agent, dataset, step = building.from_gin()
  saved = checkpoints.Checkpoints(
      folder / 'checkpoints', 2, agent=agent, step=step)
  for number in (20, 40):
    step.assign(number)
    agent.actor_network.variables[-1].assign_add([0.1] * 4)
    saved.save(number, {})
    saved.offer_best(number, 100 - number)
  with run_folder.RunFolder(folder) as home:
    home.describe(gin.config_str(), {
        'step': 0, 'task': 'maze2d-umaze-v1', 'seed': 0,
        'dataset_hash': dataset.hash()})
  gin.clear_config()
  return folder


@pytest.fixture(name='exported', scope='module')
def _exported(run, tmp_path_factory):
  out = tmp_path_factory.mktemp('out') / 'policy'
  done = _export(f'--run={run}', f'--out={out}', '--fallback=constant:0,0',
                 '--gate_quantile=0.9')
  assert done.returncode == 0, done.stderr
  assert f'Wrote {out}: step 40 of {run}.' in done.stdout
  return out


def _export(*flags):
  return subprocess.run(
      [sys.executable, str(_ROOT / 'launch' / 'export.py'), *flags],
      capture_output=True, text=True, check=False, cwd='/',
      env={**os.environ, 'CUDA_VISIBLE_DEVICES': ''})


def test_the_report_says_what_was_done(exported):
  facts = json.loads((exported / 'assets' / 'export.json').read_text())
  assert facts['train_step'] == 40
  assert facts['task'] == 'maze2d-umaze-v1'
  assert facts['fallback'] == 'Constant'
  assert facts['support']['rows'].startswith('held out')
  assert facts['support']['gate_quantile'] == 0.9
  assert 'DRVFAgent' in (exported / 'assets' / 'config.gin').read_text()
  assert 'must not be used for' in (exported / 'model_card.html').read_text()


def test_drives_a_d4rl_task_in_a_py_driver(exported):
  policy = py_tf_eager_policy.SavedModelPyTFEagerPolicy(
      str(exported), load_specs_from_pbtxt=True)
  seen = []
  environment = envs.load('maze2d-umaze-v1', seed=0)
  driver = py_driver.PyDriver(environment, policy, [seen.append], max_steps=5)
  driver.run(environment.reset(), policy.get_initial_state(1))
  assert len(seen) == 5
  assert all(np.isfinite(t.policy_info['q_lcb']) for t in seen)


def test_checkpoints_by_name(run):
  steps = {name: restoring.restore(str(run), name).step
           for name in ('last', 'best', '20')}
  assert steps == {'last': 40, 'best': 20, '20': 20}


def test_restored_weights_are_the_checkpoints(run):
  first, last = (
      restoring.restore(str(run), name).agent.actor_network.variables[-1]
      for name in ('20', '40'))
  np.testing.assert_allclose(last - first, [0.1] * 4, rtol=1e-5)


@pytest.mark.parametrize('checkpoint, message', [
    ('30', "no checkpoint '30': there are last, best and 20, 40"),
    ('newest', "no checkpoint 'newest'"),
])
def test_a_checkpoint_that_is_not_there_is_named(run, checkpoint, message):
  with pytest.raises(errors.UserError, match=message):
    restoring.restore(str(run), checkpoint)


@pytest.mark.parametrize('name', ['ckpt.data-00000-of-00001', 'state.json'])
def test_a_damaged_checkpoint_is_not_restored(run, tmp_path, name):
  shutil.copytree(run, tmp_path / 'run')
  path = tmp_path / 'run' / 'checkpoints' / 'step_000000040'
  content = bytearray((path / name).read_bytes())
  content[len(content) // 2] ^= 255
  (path / name).write_bytes(content)
  with pytest.raises(errors.UserError, match='step_000000040 is damaged'):
    restoring.restore(str(tmp_path / 'run'))
  assert restoring.restore(str(tmp_path / 'run'), '20').step == 20


def test_a_folder_that_is_no_run_is_named(tmp_path):
  with pytest.raises(errors.UserError, match='is no run folder'):
    restoring.restore(str(tmp_path))
  (tmp_path / 'run.json').write_text('{}')
  (tmp_path / 'config.gin').touch()
  with pytest.raises(errors.UserError, match='has no checkpoint yet'):
    restoring.restore(str(tmp_path))


def test_other_data_are_refused(run, tmp_path):
  data = tiny_run.make_data(tmp_path, rows=500)
  with pytest.raises(errors.UserError, match='data of another content'):
    restoring.restore(str(run), bindings=[f"loading.load.source='{data}'"])


@pytest.mark.parametrize('flags, message', [
    ((), 'Give --run=<run folder> --out=<folder>'),
    (('--run=/dev/null/none', '--out=/tmp/x', 'y'), "'y' is not a flag"),
])
def test_usage_is_one_sentence(flags, message):
  done = _export(*flags)
  assert done.returncode == 2
  assert message in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize('form', ['saved_model', 'tflite'])
def test_export_checks_itself(run, tmp_path, form):
  done = _export(f'--run={run}', f'--out={tmp_path / "out"}', '--check',
                 f'--format={form}', '--fallback=bc',
                 '--gin_param=BehaviourCloning.num_steps=10')
  assert done.returncode == 0, done.stderr
  assert 'Checked: 1,000 rows' in done.stdout


@pytest.mark.slow
def test_saved_model_cli_shows_and_runs(exported):
  cli = [sys.executable, '-m', 'tensorflow.python.tools.saved_model_cli']
  common = ['--dir', str(exported), '--tag_set', 'serve',
            '--signature_def', 'serving_default']
  shown = subprocess.run([*cli, 'show', *common], check=True, text=True,
                         capture_output=True).stdout
  assert 'shape: (-1, 4)' in shown and "outputs['in_support']" in shown
  ran = subprocess.run(
      [*cli, 'run', *common, '--input_exprs',
       'observation=[[1.,1.,0.,0.],[3.,3.,0.,0.]]'],
      check=True, text=True, capture_output=True).stdout
  assert re.search(r'output key action:\n\[\[', ran)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize('form, packages', [
    ('saved_model', [f'tensorflow-cpu=={tf.__version__}']),
    ('tflite', ['tflite-runtime', 'numpy<2']),
])
def test_in_a_fresh_virtual_environment(run, tmp_path, form, packages):
  subprocess.run([sys.executable, '-m', 'venv', tmp_path / 'venv'], check=True)
  python = tmp_path / 'venv' / 'bin' / 'python'
  installed = subprocess.run(
      [python, '-m', 'pip', 'install', '-q', *packages], check=False)
  if installed.returncode:
    pytest.skip(f'{packages} cannot be installed here')
  done = _export(f'--run={run}', f'--out={tmp_path / "out"}',
                 f'--format={form}', f'--check_python={python}')
  assert done.returncode == 0, done.stderr
  worst = float(re.search(r'largest difference (\S+)\.\n', done.stdout)[1])
  assert worst <= checking.TOLERANCE
