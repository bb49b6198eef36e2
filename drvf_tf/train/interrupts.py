"""SIGINT and SIGTERM as a wish to stop, granted between calls of the graph."""
import signal
import threading
from typing import Any, Optional


class Interrupts:
  """Notes the first signal; a second one ends the process at once."""

  def __init__(self) -> None:
    self.received: Optional[int] = None
    self._before: dict[int, Any] = {}

  @property
  def exit_code(self) -> int:
    """130 after SIGINT, 143 after SIGTERM, here or in another process."""
    return 128 + (self.received or signal.SIGTERM)

  def __enter__(self) -> 'Interrupts':
    if threading.current_thread() is threading.main_thread():
      for number in (signal.SIGINT, signal.SIGTERM):
        self._before[number] = signal.signal(number, self._note)
    return self

  def __exit__(self, *unused: Any) -> None:
    self._restore()

  def _note(self, number: int, frame: Any) -> None:
    del frame
    self.received = number
    self._restore()

  def _restore(self) -> None:
    for number, handler in self._before.items():
      signal.signal(number, handler)
    self._before = {}
