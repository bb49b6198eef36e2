"""What there is to train: tasks and methods, as their gin files say.

No TensorFlow is imported: a list is there at once.
"""
import re
from collections.abc import Mapping
from typing import NamedTuple, Optional

from drvf_tf import project_files
from drvf_tf.runs import gin_files


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


def methods() -> list[Method]:
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


def method_table(sizes: Optional[Mapping[str, int]] = None) -> str:
  """The methods as text.

  Args:
    sizes: Parameters by the method's name; None leaves that column out.

  Returns:
    Two lines for each.
  """
  column = '' if sizes is None else f'{"parameters":>13}'
  lines = [f'{"method":22}{column}  gin file']
  for method in methods():
    size = '' if sizes is None else f'{sizes[method.name]:13,}'
    lines += [f'{method.name:22}{size}  {method.gin_file or "-"}',
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
