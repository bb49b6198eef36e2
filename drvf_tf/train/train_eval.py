"""The one training loop: a dataset, an agent, a task, an evaluation."""
import contextlib
import pathlib
from typing import Any, Callable, NamedTuple, Optional

import gin
import tensorflow as tf

from drvf_tf import errors
from drvf_tf.data import offline_dataset, sampling
from drvf_tf.policies import policy_snapshot
from drvf_tf.runs import building, run_folder, run_reader, runtime, settings
from drvf_tf.runs import checkpoints as checkpoints_lib
from drvf_tf.runs import records as records_lib
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
  schedule as schedule_lib,
)
from drvf_tf.train import (
  trainer as trainer_lib,
)


class _Parts(NamedTuple):
  """What a run is made of."""
  schedule: schedule_lib.Schedule
  cluster: tf.distribute.Strategy
  batches: sampling.BatchSource
  agent: Any
  step: tf.Variable
  trainer: trainer_lib.Trainer
  guard: guard_lib.Guard
  monitors: monitors_lib.Monitors
  task: Any
  start: 'Start'
  evaluation: Optional[evaluation_lib.Evaluator]  # the chief's alone

  @property
  def dataset(self) -> offline_dataset.OfflineDataset:
    """What is learned from."""
    return self.batches.dataset


# (agent, its train step, the data) to what run.json says of where it starts
Start = Callable[
    [Any, tf.Variable, offline_dataset.OfflineDataset], dict[str, Any]]


def initial_weights(agent: Any, step: tf.Variable,
                    dataset: offline_dataset.OfflineDataset
                    ) -> dict[str, Any]:
  """A new run starts at step 0, from the weights it was built with."""
  del agent, step, dataset
  return {}


@gin.configurable
def train_eval(
    run_dir: str,
    dataset: Callable[[], Any] = gin.REQUIRED,
    agent: Callable[..., Any] = gin.REQUIRED,
    environment: Callable[[], Any] = gin.REQUIRED,
    evaluation: Callable[..., evaluation_lib.Evaluator] = gin.REQUIRED,
    batches: Callable[..., sampling.BatchSource] = sampling.TransitionSampler,
    start: Start = initial_weights,
    strategy: Callable[[], tf.distribute.Strategy] = runtime.default_strategy,
    num_steps: int = 3_000_000,
    batch_size: int = 256,
    seed: int = 0,
    method: Optional[str] = None,
    log_interval: int = 1_000,
    checkpoint_interval: int = 5_000,
    keep_checkpoints: int = 2,
    keep_every: Optional[int] = None,
    steps_per_call: int = 50) -> dict[str, Any]:
  """Trains, evaluates and saves; resumes where the run folder left off.

  Args:
    run_dir: Folder of the run; docs/training.md says what it holds.
    dataset: Gives the `OfflineDataset`.
    agent: Gives the agent: `agent(time_step_spec, action_spec, num_batches=,
      seed=, train_step_counter=)`.
    environment: Gives the task to evaluate in; see `tasks`.
    evaluation: Gives the evaluation: `evaluation(task, policy, seed)`; one
      that has `begin(agent, dataset)` looks at more than the policy.
    batches: Gives the source of batches: `batches(dataset, batch_size, seed)`.
    start: Sets the agent and its step to where a new run starts.
    strategy: Gives the `tf.distribute` strategy.
    num_steps: Train steps of the run.
    batch_size: Transitions in the global batch of a step.
    seed: Of initial weights, batches, noise and episodes.
    method: What tables and figures call the method; after the agent's class
      by default.
    log_interval: Steps between rows of metrics.csv.
    checkpoint_interval: Steps between checkpoints.
    keep_checkpoints: How many of the last checkpoints are kept.
    keep_every: Steps between checkpoints that are kept for ever, to choose
      from; None for none.
    steps_per_call: Train steps in one call of the graph.

  Returns:
    The summary of the finished run; empty in processes that do not write.
  """
  folder = pathlib.Path(run_dir)
  with contextlib.ExitStack() as stack:
    with errors.of_configuration():
      schedule = schedule_lib.Schedule(
          num_steps, batch_size, seed, log_interval, checkpoint_interval,
          keep_checkpoints, keep_every, steps_per_call)
      runtime.configure_runtime()
      cluster = strategy()
    home = None
    if runtime.is_chief(cluster):
      home = stack.enter_context(run_folder.RunFolder(folder))
    with errors.of_configuration():
      parts = _build(stack, schedule, cluster, dataset, batches, agent,
                     environment, start, evaluation if home else None)
      checkpoints = checkpoints_lib.Checkpoints(
          run_reader.RunReader(folder).checkpoints_folder, keep_checkpoints,
          keep_every, agent=parts.agent, step=parts.step,
          **parts.batches.state())
    stack.enter_context(errors.of_disk(folder))
    stack.enter_context(errors.of_divergence(folder))
    if home is None:
      parts.batches.begin(parts.agent, folder, chief=False)
      if checkpoints.resume() is None:
        parts.start(parts.agent, parts.step, parts.dataset)
      _loop(parts, None)
      return {}
    summary = _lead(stack, home, parts, checkpoints, method)
  return summary


def _build(stack: contextlib.ExitStack, schedule: schedule_lib.Schedule,
           cluster: tf.distribute.Strategy, dataset: Callable,
           batches: Callable, agent: Callable, environment: Callable,
           start: Start, evaluation: Optional[Callable]) -> _Parts:
  """Builds the parts; evaluation's processes start during the trace."""
  batch_size, seed = schedule.batch_size, schedule.seed
  source = batches(dataset(), batch_size, seed)
  data = source.dataset
  if source.interval is not None:
    schedule.check('interval of the batches', source.interval)
  tf.random.set_seed(seed)
  if batch_size % cluster.num_replicas_in_sync:
    raise ValueError(
        f'batch_size = {batch_size} must be a multiple of the '
        f'{cluster.num_replicas_in_sync} replicas.')
  with cluster.scope():
    learner, step = building.for_dataset(agent, data, batch_size, seed)
    if hasattr(learner, 'begin'):
      learner.begin(data)
    task = environment()
    evaluator = None
    if evaluation is not None:
      evaluator = evaluation(task, policy_snapshot.greedy(learner, data), seed)
      if hasattr(evaluator, 'begin'):
        evaluator.begin(learner, data)
      stack.callback(evaluator.close)
      schedule.check('interval', evaluator.interval)
    trainer = trainer_lib.Trainer(
        learner, source, step, schedule.steps_per_call)
  return _Parts(
      schedule, cluster, source, learner, step, trainer, guard_lib.Guard(),
      monitors_lib.Monitors(learner, source, data), task, start, evaluator)


def _lead(stack: contextlib.ExitStack, home: run_folder.RunFolder,
          parts: _Parts, checkpoints: checkpoints_lib.Checkpoints,
          method: Optional[str]) -> dict[str, Any]:
  """Trains as the process that writes."""
  num_steps = parts.schedule.num_steps
  config = gin.operative_config_str()
  facts = _facts(parts, method or settings.method(settings.read(config)))
  home.agree(config, facts['dataset_hash'])
  reached = home.saved_step()
  if reached > num_steps:
    raise errors.UserError(
        f'{home.path} has been trained for {reached:,} steps, more than '
        f'train_eval.num_steps = {num_steps:,}: ask for at least as many, or '
        'choose another --run.')
  summary = home.summary
  if summary is not None and reached == num_steps:
    print(f'{home.path} is a finished run.')
    _draw(home, parts)
  else:
    parts.batches.begin(parts.agent, home.path, chief=True)
    facts.update(parts.batches.facts())
    keeper = _prepare(stack, home, parts, checkpoints, config, facts)
    _train(home, parts, keeper)
    summary = keeper.finish(num_steps)
    _draw(home, parts)
    policy_snapshot.save(
        parts.agent, parts.dataset, home.policy_folder, config,
        {'task': parts.task.name, 'seed': parts.schedule.seed})
    home.finish(summary)
  print(progress.table(parts.task.name, num_steps, summary, home.path))
  return summary


def _facts(parts: _Parts, method: str) -> dict[str, Any]:
  """What run.json says of the run itself."""
  return {'task': parts.task.name, 'method': method,
          'seed': parts.schedule.seed, 'dataset': parts.dataset.provenance,
          'dataset_hash': parts.dataset.hash(),
          'dataset_size': parts.dataset.size}


def _prepare(stack: contextlib.ExitStack, home: run_folder.RunFolder,
             parts: _Parts, checkpoints: checkpoints_lib.Checkpoints,
             config: str, facts: dict[str, Any]) -> bookkeeping.Bookkeeper:
  """Starts the run, or resumes it, on disk and on screen."""
  assert parts.evaluation is not None
  schedule = parts.schedule
  resumed = checkpoints.resume()
  if resumed is None:
    facts = {**facts, **parts.start(parts.agent, parts.step, parts.dataset)}
  step = int(parts.step.numpy())
  home.describe(config, {**facts, 'step': step})
  if resumed is not None:
    assert step == resumed.step
    checkpoints.set_aside(resumed)
  records = records_lib.Records(home.path, step, schedule.num_steps)
  stack.callback(records.close)
  shown = progress.Progress(step, schedule.num_steps, parts.task.name)
  stack.callback(shown.close)
  keeper = bookkeeping.Bookkeeper(
      records, parts.evaluation, checkpoints, shown, parts.monitors,
      parts.guard, schedule)
  if resumed is not None:
    for path in resumed.damaged:
      shown.say(f'The checkpoint {path} is damaged (its checksums do not '
                f'agree), and now called damaged_{path.name}: the run resumes '
                f'from step {step:,}.')
    shown.say(f'Resuming from step {step:,} of {home.path}.')
    keeper.resume(step, resumed.state)
  elif step:  # where another run ended: its policy is evaluated first
    keeper.resume(step, {'window': None, 'evaluation': None})
  return keeper


def _train(home: run_folder.RunFolder, parts: _Parts,
           keeper: bookkeeping.Bookkeeper) -> None:
  """Trains to the last step; what it cost is noted however it ends."""
  step, meter = int(parts.step.numpy()), cost.Meter()
  try:
    _loop(parts, keeper)
  finally:
    home.spend(meter.facts(parts.agent, int(parts.step.numpy()) - step))


def _draw(home: run_folder.RunFolder, parts: _Parts) -> None:
  """Draws the curves from the run's records."""
  progress.draw_curves(
      home.evaluations(), home.metrics(),
      f'{parts.task.name}, seed {parts.schedule.seed}', home.curve_file)


def _loop(parts: _Parts, keeper: Optional[bookkeeping.Bookkeeper]) -> None:
  """Trains to the last step; signals are heard between calls of the graph."""
  step = int(parts.step.numpy())
  any_process = runtime.Vote(parts.cluster)
  with interrupts_lib.Interrupts() as interrupts:
    while step < parts.schedule.num_steps:
      parts.batches.refresh(step)
      metrics = {**parts.trainer(), **parts.batches.metrics()}
      step += parts.schedule.steps_per_call
      parts.guard.check(metrics)
      if keeper is not None:
        keeper.after_call(step, metrics)
      if any_process(interrupts.received is not None):
        if keeper is not None:
          keeper.interrupt(step)
        raise errors.Interrupted(step, interrupts.exit_code)
