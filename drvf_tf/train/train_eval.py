"""The one training loop: a dataset, an agent, a task, an evaluation."""
import contextlib
import pathlib
from typing import Any, Callable, Dict, NamedTuple, Optional

import gin
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.train.utils import train_utils

from drvf_tf import errors
from drvf_tf.data import sampling
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import checkpoints as checkpoints_lib
from drvf_tf.runs import records as records_lib
from drvf_tf.runs import run_folder, runtime, settings
from drvf_tf.train import bookkeeping, cost, progress
from drvf_tf.train import (
  evaluation as evaluation_lib,
)
from drvf_tf.train import (
  guard as guard_lib,
)
from drvf_tf.train import (
  interrupts as interrupts_lib,
)
from drvf_tf.train import (
  monitors as monitors_lib,
)
from drvf_tf.train import (
  trainer as trainer_lib,
)


class _Parts(NamedTuple):
  """What a run is made of."""
  dataset: Any
  agent: Any
  step: tf.Variable
  trainer: trainer_lib.Trainer
  guard: guard_lib.Guard
  monitors: monitors_lib.Monitors
  task: Any
  evaluation: Optional[evaluation_lib.Evaluation]  # the chief's alone


@gin.configurable
def train_eval(
    run_dir: str,
    dataset: Callable[[], Any] = gin.REQUIRED,
    agent: Callable[..., Any] = gin.REQUIRED,
    environment: Callable[[], Any] = gin.REQUIRED,
    evaluation: Callable[..., evaluation_lib.Evaluation] = gin.REQUIRED,
    strategy: Callable[[], tf.distribute.Strategy] = runtime.default_strategy,
    num_steps: int = 3_000_000,
    batch_size: int = 256,
    seed: int = 0,
    method: Optional[str] = None,
    log_interval: int = 1_000,
    checkpoint_interval: int = 5_000,
    keep_checkpoints: int = 2,
    steps_per_call: int = 50) -> Dict[str, Any]:
  """Trains, evaluates and saves; goes on where the run folder left off.

  Args:
    run_dir: Folder of the run; docs/training.md says what it holds.
    dataset: Gives the `OfflineDataset`.
    agent: Gives the agent: `agent(time_step_spec, action_spec, num_batches=,
      seed=, train_step_counter=)`.
    environment: Gives the task to evaluate in; see `tasks`.
    evaluation: Gives the evaluation: `evaluation(task, policy, seed)`.
    strategy: Gives the `tf.distribute` strategy.
    num_steps: Train steps of the run.
    batch_size: Transitions in the global batch of a step.
    seed: Of initial weights, batches, noise and episodes.
    method: What tables and figures call the method; after the agent's class
      by default.
    log_interval: Steps between rows of metrics.csv.
    checkpoint_interval: Steps between checkpoints.
    keep_checkpoints: How many of the last checkpoints are kept.
    steps_per_call: Train steps in one call of the graph.

  Returns:
    The summary of the finished run; empty in processes that do not write.
  """
  folder = pathlib.Path(run_dir)
  with contextlib.ExitStack() as stack:
    with errors.of_configuration():
      _check_multiples(steps_per_call, num_steps=num_steps,
                       log_interval=log_interval,
                       checkpoint_interval=checkpoint_interval)
      runtime.configure_runtime()
      cluster = strategy()
    home = None
    if runtime.is_chief(cluster):
      home = stack.enter_context(run_folder.RunFolder(folder))
    with errors.of_configuration():
      parts = _build(stack, cluster, dataset, agent, environment,
                     evaluation if home else None, batch_size, seed,
                     steps_per_call)
      checkpoints = checkpoints_lib.Checkpoints(
          folder / 'checkpoints', keep_checkpoints, agent=parts.agent,
          step=parts.step)
    stack.enter_context(errors.of_disk(folder))
    stack.enter_context(errors.of_divergence(folder))
    if home is None:
      _restore(checkpoints, parts)
      _loop(parts, cluster, None, num_steps, steps_per_call)
      return {}
    summary = _lead(stack, home, parts, cluster, checkpoints, seed, method,
                    num_steps, log_interval, checkpoint_interval,
                    steps_per_call)
  return summary


def _check_multiples(unit: int, **numbers: int) -> None:
  if unit < 1:
    raise ValueError(f'steps_per_call must be at least 1, not {unit}.')
  for name, number in numbers.items():
    if number < 1 or number % unit:
      raise ValueError(
          f'{name} must be a positive multiple of steps_per_call = {unit}, '
          f'not {number}.')


def _build(stack: contextlib.ExitStack, cluster: tf.distribute.Strategy,
           dataset: Callable, agent: Callable, environment: Callable,
           evaluation: Optional[Callable], batch_size: int, seed: int,
           steps_per_call: int) -> _Parts:
  """Builds the parts; evaluation's processes start during the trace."""
  sampler = sampling.TransitionSampler(dataset(), batch_size, seed)
  data = sampler.dataset
  tf.random.set_seed(seed)
  if batch_size % cluster.num_replicas_in_sync:
    raise ValueError(
        f'batch_size = {batch_size} must be a multiple of the '
        f'{cluster.num_replicas_in_sync} replicas.')
  with cluster.scope():
    step = train_utils.create_train_step()
    learner = agent(
        tensor_spec.from_spec(data.time_step_spec),
        tensor_spec.from_spec(data.action_spec),
        num_batches=data.size / batch_size, seed=seed,
        train_step_counter=step)
    if hasattr(learner, 'begin'):
      learner.begin(data)
    task = environment()
    evaluator = None
    if evaluation is not None:
      evaluator = evaluation(task, policy_snapshot.greedy(learner, data), seed)
      stack.callback(evaluator.close)
      _check_multiples(steps_per_call, interval=evaluator.interval)
    trainer = trainer_lib.Trainer(
        learner, sampler, step, steps_per_call)
  return _Parts(data, learner, step, trainer, guard_lib.Guard(),
                monitors_lib.Monitors(learner, sampler, data), task, evaluator)


def _restore(checkpoints: checkpoints_lib.Checkpoints,
             parts: _Parts) -> Optional[Dict[str, Any]]:
  """Goes to the last checkpoint, if there is one, and gives its state."""
  steps = checkpoints.steps()
  state = checkpoints.restore(steps[-1]) if steps else None
  assert not steps or int(parts.step.numpy()) == steps[-1]
  return state


def _lead(stack: contextlib.ExitStack, home: run_folder.RunFolder,
          parts: _Parts, cluster: tf.distribute.Strategy,
          checkpoints: checkpoints_lib.Checkpoints, seed: int,
          method: Optional[str], num_steps: int, log_interval: int,
          checkpoint_interval: int, steps_per_call: int) -> Dict[str, Any]:
  """Trains as the process that writes."""
  assert parts.evaluation is not None
  config = gin.operative_config_str()
  data_hash = parts.dataset.hash()
  home.agree(config, data_hash)
  reached = max(checkpoints.steps(), default=0)
  if reached > num_steps:
    raise errors.UserError(
        f'{home.path} has been trained for {reached:,} steps, more than '
        f'train_eval.num_steps = {num_steps:,}: ask for at least as many, or '
        'choose another --run.')
  if home.summary is not None and reached == num_steps:
    print(f'{home.path} is a finished run.')
    _draw(home, parts, seed)
    print(progress.table(parts.task.name, num_steps, home.summary, home.path))
    return home.summary
  state = _restore(checkpoints, parts)
  step = int(parts.step.numpy())
  home.describe(config, {
      'task': parts.task.name, 'method': method or settings.method(
          settings.read(config)), 'seed': seed, 'step': step,
      'dataset': parts.dataset.provenance, 'dataset_hash': data_hash,
      'dataset_size': parts.dataset.size})
  records = records_lib.Records(home.path, step, num_steps)
  stack.callback(records.close)
  shown = progress.Progress(step, num_steps, parts.task.name)
  stack.callback(shown.close)
  keeper = bookkeeping.Bookkeeper(
      records, parts.evaluation, checkpoints, shown, parts.monitors,
      parts.guard, log_interval, checkpoint_interval)
  if state is not None:
    shown.say(f'Going on from step {step:,} of {home.path}.')
    keeper.resume(step, state)
  meter = cost.Meter()
  _loop(parts, cluster, keeper, num_steps, steps_per_call)
  spent = meter.facts(parts.agent, num_steps - step)
  summary = keeper.finish(num_steps)
  shown.close()
  _draw(home, parts, seed)
  policy_snapshot.save(parts.agent, parts.dataset, home.policy, config,
                       {'task': parts.task.name, 'seed': seed})
  home.finish(summary, spent)
  print(progress.table(parts.task.name, num_steps, summary, home.path))
  return summary


def _draw(home: run_folder.RunFolder, parts: _Parts, seed: int) -> None:
  """Draws the curves from the run's records."""
  progress.draw_curves(
      records_lib.read_evaluations(home.path / 'evaluations.jsonl'),
      records_lib.read_metrics(home.path / 'metrics.csv'),
      f'{parts.task.name}, seed {seed}', home.path / 'curve.png')


def _loop(parts: _Parts, cluster: tf.distribute.Strategy,
          keeper: Optional[bookkeeping.Bookkeeper], num_steps: int,
          steps_per_call: int) -> None:
  """Trains to the last step; signals are heard between calls of the graph."""
  step = int(parts.step.numpy())
  any_process = runtime.Vote(cluster)
  with interrupts_lib.Interrupts() as interrupts:
    while step < num_steps:
      metrics = parts.trainer()
      step += steps_per_call
      parts.guard.check(metrics)
      if keeper is not None:
        keeper.after_call(step, steps_per_call, metrics)
      if any_process(interrupts.received is not None):
        if keeper is not None:
          keeper.interrupt(step)
        raise errors.Interrupted(step, interrupts.exit_code)
