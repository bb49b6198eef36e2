"""D4RL's tasks as gym environments: names, scores, one seed for everything.

Importing this module registers them, so that `gym.make` knows them too.
"""
import contextlib
import dataclasses
import io
import tempfile
from collections.abc import Iterator
from typing import Any, Optional

from drvf_tf import errors
from drvf_tf.envs import d4rl_import

d4rl_import.import_quietly()

import gym  # noqa: E402
import numpy as np  # noqa: E402
from d4rl import infos  # noqa: E402
from d4rl.locomotion import ant, wrappers  # noqa: E402

_GYM = [f'{robot}-{level}-v2'
        for robot in ('halfcheetah', 'hopper', 'walker2d')
        for level in ('random', 'medium', 'medium-replay', 'medium-expert',
                      'expert')]
_ANTMAZE = [f'antmaze-{maze}-v2'
            for maze in ('umaze', 'umaze-diverse', 'medium-play',
                         'medium-diverse', 'large-play', 'large-diverse')]
_MAZE2D = [f'maze2d-{maze}-v1' for maze in ('umaze', 'medium', 'large')]


class SeededAntMaze(wrappers.NormalizedBoxEnv):
  """D4RL's AntMaze with a seed: goal and start come from its own generator.

  d4rl's `AntMazeEnv` draws goals from NumPy's global generator, ignores
  `seed`, prints every goal, and leaves a temporary file behind.
  """

  def __init__(self, **kwargs: Any):
    self._global_state = np.random.RandomState().get_state()
    with _temporary_folder(), self._own_randomness():
      super().__init__(ant.AntMazeEnv(**kwargs))

  def seed(self, seed: Optional[int] = None) -> list[Optional[int]]:
    """Seeds the start state and the goal."""
    self._global_state = np.random.RandomState(seed).get_state()
    return self._wrapped_env.seed(seed)

  def reset(self, *, seed: Optional[int] = None, return_info: bool = False,
            options: Optional[dict] = None) -> Any:
    """Draws a goal and a start state; gym's own signature."""
    del options
    if seed is not None:
      self.seed(seed)
    with self._own_randomness():
      observation = self._wrapped_env.reset()
    return (observation, {}) if return_info else observation

  @contextlib.contextmanager
  def _own_randomness(self) -> Iterator[None]:
    outside = np.random.get_state()
    np.random.set_state(self._global_state)
    try:
      with contextlib.redirect_stdout(io.StringIO()):
        yield
    finally:
      self._global_state = np.random.get_state()
      np.random.set_state(outside)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[None]:
  before = tempfile.tempdir
  with tempfile.TemporaryDirectory() as folder:
    tempfile.tempdir = folder
    try:
      yield
    finally:
      tempfile.tempdir = before


def _register_seeded_antmaze() -> None:
  for task in gym.envs.registry.env_specs.values():
    if task.entry_point == 'd4rl.locomotion.ant:make_ant_maze_env':
      task.entry_point = SeededAntMaze


_register_seeded_antmaze()


def task_names() -> list[str]:
  """The tasks of the paper's tables, and D4RL's maze2d."""
  return _GYM + _ANTMAZE + _MAZE2D


def spec(name: str) -> Any:
  """gym's specification of a D4RL task (of any version d4rl knows).

  Raises:
    UserError: where there is no task of that name.
  """
  known = gym.envs.registry.env_specs
  if name not in known or 'dataset_url' not in known[name].kwargs:
    raise errors.UserError(
        f'{name!r} is not a D4RL task that drvf_tf can run: use one of '
        f'{", ".join(task_names())}.')
  return known[name]


def max_episode_steps(name: str) -> int:
  """Steps after which an episode of the task times out."""
  return int(spec(name).max_episode_steps)


def reference_scores(name: str) -> tuple[float, float]:
  """D4RL's returns of a random policy and of the expert."""
  kwargs = spec(name).kwargs
  return (float(infos.REF_MIN_SCORE.get(name, kwargs['ref_min_score'])),
          float(infos.REF_MAX_SCORE.get(name, kwargs['ref_max_score'])))


def normalized_score(name: str, returns: Any) -> np.ndarray:
  """Returns in percent: 0 is D4RL's random policy, 100 its expert."""
  low, high = reference_scores(name)
  return 100. * (np.asarray(returns, np.float64) - low) / (high - low)


def dataset_url(name: str) -> str:
  """Where D4RL publishes the task's data."""
  return str(infos.DATASET_URLS.get(name, spec(name).kwargs['dataset_url']))


def make(name: str) -> gym.Env:
  """D4RL's environment without gym's wrappers: no time limit."""
  spec(name)
  env = gym.make(name)
  while isinstance(env, gym.Wrapper):
    env = env.env
  return env


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What one step of a task gave, in float32."""
  observation: np.ndarray
  reward: np.float32
  terminal: bool
  timeout: bool


class Task:
  """A seeded D4RL task that tells timeouts from terminals.

  Holds no TensorFlow, so that worker processes start quickly.
  """

  def __init__(self, name: str, seed: int):
    self.name = name
    self.max_episode_steps = max_episode_steps(name)
    self.env = make(name)
    self.env.action_space.seed(seed)
    self._seed: Optional[int] = int(seed)
    self._steps = 0

  def reset(self, seed: Optional[int] = None) -> np.ndarray:
    """Starts an episode, one of its own seed where that is given."""
    observation = self.env.reset(seed=self._seed if seed is None else seed)
    self._seed = None  # gym: seed at the first reset, then never again
    self._steps = 0
    return np.asarray(observation, np.float32)

  def step(self, action: np.ndarray) -> Outcome:
    """Takes one action."""
    observation, reward, done, _ = self.env.step(action)
    self._steps += 1
    return Outcome(np.asarray(observation, np.float32), np.float32(reward),
                   bool(done),
                   not done and self._steps >= self.max_episode_steps)

  def render(self, mode: str = 'rgb_array') -> Any:
    """A picture of the present state."""
    return self.env.render(mode=mode)
