"""What a served answer costs beside the bare actor and the critic's pass."""
import time
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from drvf_tf.policies import exporting, gated_policy, uncertainty_policy

Call = Callable[[], Any]


def candidates(agent: Any, batch: int) -> dict[str, Call]:
  """Calls to compare, each on `batch` observations, as a client makes them.

  Args:
    agent: An `EnsembleSacAgent`.
    batch: Number of observations.

  Returns:
    By name: the bare actor; the critic's forward pass as training runs it,
    draws and moments; the served answer (action and statistics).
  """
  policy = uncertainty_policy.of_agent(agent)
  served = exporting.signatures(gated_policy.GatedPolicy(policy))
  observation_spec, action_spec = policy.batched_specs()
  rng = np.random.default_rng(0)
  observation, action = (
      tf.constant(rng.uniform(-1, 1, [batch, *spec.shape[1:]]), tf.float32)
      for spec in (observation_spec, action_spec))

  @tf.function(input_signature=[observation_spec], autograph=False)
  def actor(observation):
    return agent.actor_network(observation)[0].mode()

  @tf.function(input_signature=[observation_spec, action_spec],
               autograph=False)
  def critic(observation, action):
    q, _ = agent.critic_network(
        (observation, action), num_samples=agent.num_samples,
        seed=tf.zeros([2], tf.int32))
    return q

  act, score, serve = (function.get_concrete_function() for function in (
      actor, critic, served['serving_default']))
  return {
      'actor': lambda: act(observation),
      'critic': lambda: score(observation, action),
      'served': lambda: serve(observation),
  }


def measure(agent: Any, batches: Sequence[int] = (1, 1_024),
            rounds: int = 200) -> list[dict[str, float]]:
  """Times the candidates in turns; CPU seconds, so that one core is meant.

  Args:
    agent: An `EnsembleSacAgent`.
    batches: Numbers of observations.
    rounds: Turns of each candidate.

  Returns:
    One row for each batch: median milliseconds by name, and `statistics`:
    what the served answer takes beyond the actor.
  """
  rows = []
  for batch in batches:
    calls = candidates(agent, batch)
    for call in calls.values():
      call()  # the first call optimises the graph
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
      for name, call in calls.items():
        start = time.process_time()
        call()
        seconds[name].append(time.process_time() - start)
    extra = np.subtract(seconds['served'], seconds['actor'])
    rows.append({
        'batch': batch,
        **{name: 1e3 * float(np.median(s)) for name, s in seconds.items()},
        'statistics': 1e3 * float(np.median(extra))})
  return rows


def table(rows: Sequence[dict[str, float]]) -> str:
  """The rows as text."""
  lines = [f'{"observations":>12}{"actor ms":>10}{"critic ms":>11}'
           f'{"served ms":>11}{"statistics ms":>15}{"/ critic":>10}']
  for row in rows:
    lines.append(
        f'{row["batch"]:12,}{row["actor"]:10.3f}{row["critic"]:11.3f}'
        f'{row["served"]:11.3f}{row["statistics"]:15.3f}'
        f'{row["statistics"] / row["critic"]:10.2f}')
  return '\n'.join(lines)
