"""A small world with a known value: five places on a ring, pushed along."""
import numpy as np

from drvf_tf import data

PLACES, GAMMA = 5, 0.9
_REWARDS = np.array([1., 0., 0., -1., 0.5])


def act(observations):
  """The policy to evaluate: push on everywhere but at the best place."""
  best = observations[:, :1] > 0.5
  return np.where(best, -0.6, 0.8).astype(np.float32)


def true_value():
  """V averaged over the places, by solving V = r + γ P V."""
  chance = (1 + act(np.eye(PLACES))[:, 0]) / 2  # of moving on
  moves = np.zeros([PLACES, PLACES])
  for place in range(PLACES):
    moves[place, (place + 1) % PLACES] = chance[place]
    moves[place, place] = 1 - chance[place]
  return float(np.linalg.solve(
      np.eye(PLACES) - GAMMA * moves, _REWARDS).mean())


def rows(seed, episodes=100, length=20):
  """Logs of pushes at random; every episode is cut."""
  rng = np.random.default_rng(seed)
  places = rng.integers(PLACES, size=episodes)
  seen, actions, rewards, following = [], [], [], []
  for _ in range(length):
    push = rng.uniform(-1, 1, episodes)
    moved = rng.uniform(size=episodes) < (1 + push) / 2
    seen.append(np.eye(PLACES)[places])
    actions.append(push[:, None])
    rewards.append(_REWARDS[places])
    places = (places + moved) % PLACES
    following.append(np.eye(PLACES)[places])

  def flat(parts):  # [T, E, ...] to episodes one below the other
    parts = np.swapaxes(np.array(parts), 0, 1)
    return parts.reshape([episodes * length, *parts.shape[2:]])

  return data.from_arrays({
      'observations': flat(seen), 'actions': flat(actions),
      'rewards': flat(rewards), 'next_observations': flat(following),
      'terminals': np.zeros(episodes * length, bool),
      'timeouts': np.arange(1, episodes * length + 1) % length == 0}, 'ring')
