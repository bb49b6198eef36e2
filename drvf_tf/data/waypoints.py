"""D4RL's maze2d recipe: d4rl's own planner walks d4rl's own maze."""
from typing import Any, Callable

import numpy as np
import tqdm

from drvf_tf import errors


def collect(task_name: str, num_steps: int, seed: int,
            action_noise: float = 0.) -> dict[str, np.ndarray]:
  """Walks to random targets, with the reward of the task's own goal.

  As D4RL does: the planner goes to one random target after the other without
  a reset, a timeout marks where the target changes, and there are no
  terminals. The reward is the task's: 1 within 0.5 of its goal after the step.

  Args:
    task_name: a maze2d task.
    num_steps: rows to collect.
    seed: all randomness follows from it.
    action_noise: standard deviation of noise added to the planner's actions.

  Returns:
    Arrays by D4RL's keys.
  """
  if not task_name.startswith('maze2d-'):
    raise errors.UserError(
        f'the waypoint planner walks mazes, and {task_name!r} is not a maze2d '
        'task: use `random` or a saved policy.')
  from drvf_tf.envs import d4rl_tasks  # and d4rl, which no other data need
  maze = d4rl_tasks.make(task_name)
  limit = d4rl_tasks.max_episode_steps(task_name)
  goal = np.array(maze.get_target(), np.float64)
  outside = np.random.get_state()
  np.random.seed(seed)  # d4rl's planner draws from the global generator
  try:
    rows = _walk(maze, num_steps, limit, seed, action_noise)
  finally:
    np.random.set_state(outside)
  arrays = {key: np.array(values, np.float32) for key, values in rows.items()}
  distance = np.linalg.norm(arrays['next_observations'][:, :2] - goal, axis=1)
  arrays['rewards'] = (distance <= 0.5).astype(np.float32)
  arrays['timeouts'] = arrays['timeouts'].astype(bool)
  arrays['terminals'] = np.zeros(num_steps, bool)
  return arrays


def _walk(maze: Any, num_steps: int, limit: int, seed: int,
          action_noise: float) -> dict[str, list[np.ndarray]]:
  # Only after drvf_tf.envs, which makes d4rl importable.
  from d4rl.pointmaze import waypoint_controller
  planner = waypoint_controller.WaypointController(maze.str_maze_spec)
  _remember_matrices(planner.env)
  rows: dict[str, list[np.ndarray]] = {
      key: [] for key in ('observations', 'actions', 'next_observations',
                          'timeouts', 'infos/goal')}
  observation = maze.reset(seed=seed)
  maze.set_target()
  length = 0
  for _ in tqdm.trange(num_steps, desc='maze2d', unit=' steps', mininterval=1):
    target = maze.get_target()
    action, arrived = planner.get_action(
        observation[:2], observation[2:], target)
    if action_noise:
      action = action + action_noise * np.random.randn(*action.shape)
    action = np.clip(action, -1., 1.)
    following = maze.step(action)[0]
    length += 1
    new_target = arrived or length >= limit
    for key, value in zip(rows, (observation, action, following, new_target,
                                 target)):
      rows[key].append(value)
    observation = following
    if new_target:
      maze.set_target()
      length = 0
  return rows


def _remember_matrices(grid: Any) -> None:
  """Keeps what the planner computes of its grid anew for every target.

  Which is four fifths of a walk's time; a maze has but a few cells to go to.

  Args:
    grid: The planner's own, whose only change is where the target is.
  """
  for make in (grid.reward_matrix, grid.transition_matrix):
    setattr(grid, make.__name__, _remembered(make, grid))


def _remembered(make: Callable[[], np.ndarray],
                grid: Any) -> Callable[[], np.ndarray]:
  known: dict[bytes, np.ndarray] = {}

  def look_up() -> np.ndarray:
    key = grid.gs.spec.tobytes()
    if key not in known:
      known[key] = make()
    return known[key]

  return look_up
