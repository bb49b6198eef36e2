"""The methods of the family: what each is, its gin file, its size."""
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import gin
import tensorflow as tf
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts

from drvf_tf import project_files
from drvf_tf.runs import building, configuration, gin_files

# Sizes of halfcheetah and walker2d: the paper counts parameters there.
_OBSERVATION, _ACTION = 17, 6
_TASK = 'gin/walker2d_medium.gin'


class Method(NamedTuple):
  """One method.

  Attributes:
    name: What tables call it.
    what: The first sentence of its gin file.
    gin_file: Its overlay, relative to the project; '' for DRVF itself.
  """
  name: str
  what: str
  gin_file: str


DRVF = Method('DRVF', 'The paper: Bayesian heads, KL, repulsion.', '')


def known() -> list[Method]:
  """DRVF and every method that has a gin file of its own."""
  found = [DRVF]
  for path in sorted(
      (project_files.ROOT / 'gin' / 'baselines').glob('*.gin')):
    text = path.read_text(encoding='utf-8')
    name = re.search(r"^train_eval\.method = '(.*)'$", text, re.M)
    if name:
      found.append(Method(name.group(1), _first_sentence(text),
                          project_files.name(path)))
  return found


def _first_sentence(text: str) -> str:
  """The first sentence of the comment that a file opens with."""
  words = []
  for line in text.splitlines():
    if not line.startswith('#'):
      break
    words.append(line.lstrip('# '))
  # A sentence ends before a capital; "et al." and "App." do not.
  return re.split(r'(?<=\.)(?<!al\.)(?<!App\.) (?=[A-Z])', ' '.join(words))[0]


def agent_of(files: Sequence[str], bindings: Sequence[str] = (),
             observation: int = _OBSERVATION, action: int = _ACTION) -> Any:
  """The agent that the training loop would build from gin files.

  Args:
    files: gin files, a task's first.
    bindings: gin bindings on top.
    observation: Size of an observation.
    action: Size of an action.

  Returns:
    The agent. gin holds its configuration now.
  """
  gin.clear_config()
  configuration.parse(files, bindings)
  return building.agent(
      gin.get_bindings('train_eval')['agent'],
      ts.time_step_spec(tensor_spec.TensorSpec([observation], tf.float32)),
      tensor_spec.BoundedTensorSpec([action], tf.float32, -1.0, 1.0),
      num_batches=1_000.0, seed=0)


def parameters(agent: Any) -> int:
  """Weights of all networks, targets included, as the paper counts them."""
  # The rest are single numbers: the train step, the temperature.
  return sum(v.shape.num_elements() for v in agent.variables if v.shape.rank)


def table() -> str:
  """The methods as text; sizes are of walker2d-medium."""
  lines = [f'{"method":22}{"parameters":>13}  gin file']
  for method in known():
    overlay = [method.gin_file] if method.gin_file else []
    count = parameters(agent_of([_TASK, *overlay]))
    lines += [f'{method.name:22}{count:13,}  {method.gin_file or "-"}',
              f'    {method.what}']
  return '\n'.join(lines)


def task_table() -> str:
  """The tasks that have a gin file, as text."""
  lines = [f'{"task":30}gin file']
  for stem, name in gin_files.tasks().items():
    # More than one file may be on a task; then its name means one of them.
    other = gin_files.of_task(name) != f'gin/{stem}.gin'
    shown = f'{stem} ({name})' if other else name
    lines.append(f'{shown:30}gin/{stem}.gin')
  return '\n'.join(lines)
