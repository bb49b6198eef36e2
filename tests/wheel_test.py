"""What `pip install .` brings: the checkout is not needed any more."""
import pathlib
import runpy
import shutil
import subprocess
import sys
import zipfile

import pytest
import setuptools

import drvf_tf

_ROOT = pathlib.Path(__file__).parents[1]
_FOLDERS = ('drvf_tf', 'gin', 'sweeps', 'launch', 'benchmarks')


def _files(*patterns):
  """Files of the project, relative to it."""
  return {str(path.relative_to(_ROOT)) for pattern in patterns
          for path in _ROOT.glob(pattern) if '.venv' not in path.parts}


_BESIDE = _files('gin/**/*.gin', 'sweeps/*.gin', 'launch/*.py',
                 'benchmarks/*.py')
_INSIDE = _files('drvf_tf/**/*.py', 'drvf_tf/**/*.npz', 'drvf_tf/**/*.csv',
                 'drvf_tf/py.typed')


@pytest.fixture(name='metadata', scope='module')
def _metadata():
  """What setup.py says."""
  said = {}
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(setuptools, 'setup', said.update)
    patch.chdir(_ROOT)
    runpy.run_path(str(_ROOT / 'setup.py'))
  return said


def test_every_file_has_its_place(metadata):
  places = {package: pathlib.Path(metadata['package_dir'].get(
      package, package.replace('.', '/'))) for package in metadata['packages']}
  brought = set()
  for package, place in places.items():
    brought |= _files(f'{place}/*.py', *(
        f'{place}/{pattern}'
        for pattern in metadata['package_data'].get(package, ())))
  assert _BESIDE | _INSIDE <= brought
  assert {'gin/baselines/edac/hopper_medium.gin', 'drvf_tf/runs/gin_files.py',
          'drvf_tf/envs/physics_reference.npz'} <= brought


def test_one_version_and_one_command(metadata):
  assert metadata['version'] == drvf_tf.__version__
  assert metadata['entry_points'] == {
      'console_scripts': ['drvf = drvf_tf.cli:main']}


@pytest.fixture(name='wheel', scope='module')
def _wheel(tmp_path_factory):
  source = tmp_path_factory.mktemp('source')  # pip builds in the source tree
  for folder in _FOLDERS:
    shutil.copytree(_ROOT / folder, source / folder,
                    ignore=shutil.ignore_patterns('__pycache__', '.venv'))
  for file in ('setup.py', 'pyproject.toml', 'README.md', 'LICENSE'):
    shutil.copy(_ROOT / file, source)
  out = tmp_path_factory.mktemp('wheel')
  subprocess.run(
      [sys.executable, '-m', 'pip', 'wheel', '.', '--no-deps',
       '--no-build-isolation', '-q', '--disable-pip-version-check', '-w',
       str(out)], cwd=source, check=True)
  (wheel,) = out.glob('drvf_tf-*.whl')
  return wheel


def test_the_wheel_has_them(wheel):
  with zipfile.ZipFile(wheel) as archive:
    names = set(archive.namelist())
    (scripts,) = (name for name in names if name.endswith('entry_points.txt'))
    entry = archive.read(scripts).decode()
  assert _INSIDE <= names
  assert {f'drvf_tf/project/{name}' for name in _BESIDE} <= names
  assert 'drvf = drvf_tf.cli:main' in entry
  tops = {name.partition('/')[0] for name in names}
  assert all(top.startswith('drvf_tf') for top in tops), tops


def test_what_was_unpacked_finds_its_files(wheel, tmp_path):
  shutil.unpack_archive(wheel, tmp_path / 'site', 'zip')

  def drvf(*words):
    return subprocess.run(
        [sys.executable, '-m', 'drvf_tf.cli', *words], capture_output=True,
        text=True, check=False, cwd=tmp_path / 'site')

  assert drvf('--version').stdout == f'drvf_tf {drvf_tf.__version__}\n'
  shown = drvf('sweep', '--sweep=sweeps/maze2d_smoke.gin', '--dry_run')
  assert shown.returncode == 0, shown.stderr
  assert '    drvf train --gin_file=gin/quickstart.gin' in shown.stdout
  typo = drvf('train', '--task=quickstrat')
  assert 'did you mean quickstart' in typo.stderr, typo.stderr
  assert 'drvf train --gin_file' in drvf('train', '--help').stdout
