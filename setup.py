"""drvf_tf: Diverse Randomized Value Functions on TensorFlow and TF-Agents."""
import pathlib
import sys

import setuptools

if not (3, 9) <= sys.version_info[:2] <= (3, 11):
  sys.exit(
      'drvf_tf needs Python 3.9, 3.10 or 3.11 (TensorFlow 2.15 has no wheels '
      f'for {sys.version.split()[0]}): create the virtual environment with one '
      'of them, for example `make test PYTHON=python3.11`.')

_HERE = pathlib.Path(__file__).parent

# TF-Agents 0.19 is the last release; it was built against exactly these two.
_TENSORFLOW = '2.15.1'

# Folders beside the package that an installed one needs, too: the wheel has
# them below drvf_tf/project (see drvf_tf/project_files.py). They have no
# __init__.py: gin/ would hide the module gin.
_FOLDERS = ('gin', 'sweeps', 'launch', 'benchmarks')

setuptools.setup(
    name='drvf_tf',
    version='0.1.0',
    description='Uncertainty-based offline RL with Diverse Randomized Value '
                'Functions, on TensorFlow and TF-Agents',
    long_description=(_HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    packages=[*setuptools.find_packages(include=['drvf_tf', 'drvf_tf.*']),
              *(f'drvf_tf.project.{folder}' for folder in _FOLDERS)],
    package_dir={f'drvf_tf.project.{folder}': folder for folder in _FOLDERS},
    package_data={'drvf_tf': ['py.typed', 'envs/*.npz',
                              'report/published_numbers/*.csv'],
                  'drvf_tf.project.gin': ['*.gin', '*/*.gin', '*/*/*.gin'],
                  'drvf_tf.project.sweeps': ['*.gin'],
                  'drvf_tf.project.benchmarks': ['requirements.txt']},
    entry_points={'console_scripts': ['drvf = drvf_tf.cli:main']},
    python_requires='>=3.9,<3.12',
    install_requires=[
        'absl-py>=1.4',
        'd4rl==1.1',  # the tasks: its environment classes, run unmodified
        'gin-config==0.5.0',
        'gym==0.23.0',  # what TF-Agents 0.19 and d4rl 1.1 both accept
        'h5py>=3.8',
        'matplotlib>=3.7',
        'mujoco==3.3.7',  # newer releases drift from MuJoCo 2.1.0's physics
        'numpy==1.26.*',  # TensorFlow 2.15 and gym 0.23 predate NumPy 2
        'tensorflow-probability==0.23.0',
        'tf-agents==0.19.0',
        'tqdm>=4.64',
        # Without a GPU the CPU build is a third of the size; the extra `gpu`
        # adds the full build, which takes precedence over it.
        f'tensorflow-cpu=={_TENSORFLOW}; platform_machine=="x86_64"',
        f'tensorflow=={_TENSORFLOW}; platform_machine!="x86_64"',
    ],
    extras_require={
        'gpu': [f'tensorflow[and-cuda]=={_TENSORFLOW}'],
        'minari': ['minari[hdf5]>=0.4.3'],
        # Only to compare speeds: its v4 tasks are not D4RL's physics.
        'benchmark': ['gymnasium[mujoco]>=1.0'],
        # Has wheels for Python 3.9 to 3.11, and takes TensorFlow's protobuf 4.
        'sweep': ['ray==2.49.2'],
        # Intervals over tasks and seeds in launch/report.py (the arch that
        # rliable accepts cannot be imported with pandas 3), t-SNE in
        # launch/uncertainty.py.
        'report': ['rliable==1.2.0', 'arch>=5.3.1,<8', 'pandas<3',
                   'scikit-learn>=1.3'],
        # MP4 from launch/evaluate.py --video where there is no ffmpeg.
        'video': ['imageio-ffmpeg>=0.4.9'],
        'test': ['pytest>=7.4', 'pytest-timeout>=2.1', 'pytest-xdist>=3.5',
                 'setuptools>=65', 'wheel>=0.40'],  # to build the wheel
        'site': ['mkdocs>=1.6,<2', 'Pygments>=2.15'],
        # mypy 1.8 is the last that accepts TF-Agents' typing-extensions 4.5.
        'lint': ['ruff==0.6.9', 'mypy==1.8.0'],
    },
)
