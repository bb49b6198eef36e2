"""How long a run trains, in which portions, and what is due when."""
import dataclasses
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Schedule:
  """The numbers of `train_eval`, which describes them; checked together."""
  num_steps: int
  batch_size: int
  seed: int
  log_interval: int
  checkpoint_interval: int
  keep_checkpoints: int
  keep_every: Optional[int]
  steps_per_call: int

  def __post_init__(self) -> None:
    if self.steps_per_call < 1:
      raise ValueError(
          f'steps_per_call must be at least 1, not {self.steps_per_call}.')
    for name in ('num_steps', 'log_interval', 'checkpoint_interval'):
      self.check(name, getattr(self, name))
    if self.keep_every is not None and (
        self.keep_every < 1 or self.keep_every % self.checkpoint_interval):
      raise ValueError(
          'keep_every must be a positive multiple of checkpoint_interval = '
          f'{self.checkpoint_interval}, not {self.keep_every}.')

  def check(self, name: str, steps: int) -> None:
    """Refuses an interval that no call of the graph ends at."""
    if steps < 1 or steps % self.steps_per_call:
      raise ValueError(
          f'{name} must be a positive multiple of steps_per_call = '
          f'{self.steps_per_call}, not {steps}.')
