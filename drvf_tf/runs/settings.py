"""What a run's config.gin says: its bindings, its method, what sets it apart.

Read as text: a report must not build agents, nor need the code of that day.
"""
import re
from collections.abc import Iterable, Mapping
from typing import Optional

# What does not change what is learned: two runs that differ in these alone are
# seeds of the same row. The data count by their hash, not by their path.
_ASIDE = re.compile(
    r'train_eval\.(seed|method|log_interval|checkpoint_interval|strategy'
    r'|keep_checkpoints|keep_every|steps_per_call)$'
    r'|configure_runtime\.(\w*threads|xla_fast_math)$|Trainer\.jit_compile$'
    r'|EnsembleCriticNetwork\.stacked$'
    r'|Evaluation\.(num_workers|interval|num_episodes|final_episodes)$|Guard\.|generated_maze2d\.'
    r'|loading\.load\.(source|generate)$')

# What a run did whose config.gin is older than the parameter.
_FORMER = {
    'EnsembleCriticNetwork.input_bias_range': '0.0',
    'tanh_gaussian_actor.input_bias_range': '0.0',
}

# Short names for the bindings that often vary: the paper's, where it has one.
_SYMBOLS = {
    'EnsembleCriticNetwork.num_members': 'M',
    'DRVFAgent.num_samples': 'n',
    'DRVFAgent.num_ood_actions': 'K',
    'DRVFAgent.eta_q': 'η_q',
    'DRVFAgent.eta_ood': 'η_ood',
    'EnsembleCriticNetwork.hidden_units': 'critic',
    'tanh_gaussian_actor.hidden_units': 'actor',
}


def read(text: str) -> dict[str, str]:
  """The bindings of a config.gin, each value as it is written there."""
  bindings: dict[str, str] = {}
  name: Optional[str] = None
  for line in text.splitlines():
    if not line.strip() or line.startswith('#'):
      name = None
    elif line[0].isspace() and name is not None:  # a value over several lines
      bindings[name] = f'{bindings[name]} {line.strip()}'.strip()
    elif '=' in line:
      name, value = (part.strip() for part in line.split('=', 1))
      bindings[name] = value.rstrip('\\').strip()
  return bindings


def completed(bindings: Mapping[str, str]) -> dict[str, str]:
  """Bindings with the parameters that were not there yet when it was written.

  So that a record which was kept and a run of today are seeds of one row.

  Args:
    bindings: Of config.gin.

  Returns:
    Them, and `_FORMER` of the parts that they configure.
  """
  parts = {name.rpartition('.')[0] for name in bindings}
  return {**{name: value for name, value in _FORMER.items()
             if name.rpartition('.')[0] in parts}, **bindings}


def that_matter(bindings: Mapping[str, str]) -> dict[str, str]:
  """The bindings that change what is learned, the seed and the data aside."""
  return {name: value for name, value in bindings.items()
          if not _ASIDE.match(name)}


def method(bindings: Mapping[str, str]) -> str:
  """The method's name: as the run was told, else after the agent's class.

  Args:
    bindings: Of config.gin.

  Returns:
    `train_eval.method` where it is bound; else the class without "Agent", and
    the actor's constraint where there is one.
  """
  told = bindings.get('train_eval.method', 'None')
  if told != 'None':
    return told.strip('\'"')
  name, constraint = _agent(bindings), _constraint(bindings)
  return name if constraint == 'unconstrained' else f'{name} + {constraint}'


def without_constraint(name: str, bindings: Mapping[str, str]) -> str:
  """A method's name without the actor's constraint in it.

  Args:
    name: Of the method: "DRVF + BC".
    bindings: Of its config.gin.

  Returns:
    "DRVF" where the actor is constrained and the name says more than the
    agent's; else the name.
  """
  agent = _agent(bindings)
  named_after = (name.startswith(f'{agent} + ')
                 and _constraint(bindings) != 'unconstrained')
  return agent if named_after else name


def _agent(bindings: Mapping[str, str]) -> str:
  """The agent's class, without "Agent"."""
  name = _bare(bindings.get('build_agent.agent_class',
                            bindings.get('train_eval.agent', '@unknown')))
  return name[:-len('Agent')] if name.endswith('Agent') else name


def _constraint(bindings: Mapping[str, str]) -> str:
  return _bare(
      bindings.get('EnsembleSacAgent.actor_constraint', '@unconstrained'))


def number(bindings: Mapping[str, str], name: str) -> Optional[int]:
  """A whole number that is bound, by itself or by a macro, or None."""
  value = bindings.get(name, '')
  if value.startswith('%'):
    value = bindings.get(value[1:], '')
  value = value.replace('_', '')
  return int(value) if re.fullmatch(r'-?\d+', value) else None


def differences(own: Mapping[str, str],
                reference: Mapping[str, str]) -> tuple[str, ...]:
  """What sets one run's bindings apart from another's, in short.

  Args:
    own: Bindings of the run to describe.
    reference: Bindings of the run it is compared with.

  Returns:
    `name=value` for each value that differs; a binding that only the
    reference has is named with a minus before it, unless the parts it belongs
    to are gone altogether.
  """
  changed = [name for name in own if own[name] != reference.get(name)]
  owners = {name.rpartition('.')[0] for name in own}
  gone = [name for name in reference
          if name not in own and name.rpartition('.')[0] in owners]
  return (*(f'{_short(name, own)}={_bare(own[name])}' for name in changed),
          *(f'−{_short(name, reference)}' for name in gone))


def _short(name: str, names: Iterable[str]) -> str:
  if name in _SYMBOLS:
    return _SYMBOLS[name]
  last = name.rpartition('.')[2]
  alike = [other for other in names if other.rpartition('.')[2] == last]
  return last if len(alike) <= 1 else '.'.join(name.split('.')[-2:])


def _bare(value: str) -> str:
  return value.lstrip('@').strip('\'"')
