"""Attempts as Ray tasks; all that the project knows of Ray."""
import importlib.util
import logging
import os
import re
import socket
from collections.abc import Hashable
from typing import Any, Optional

from drvf_tf import errors, project_files
from drvf_tf.sweep import attempt

_OBJECT_STORE = 80 << 20  # bytes; results are a sentence each


def check_installed() -> None:
  """Raises `UserError` where Ray is not installed."""
  if importlib.util.find_spec('ray') is None:
    raise errors.UserError(
        'A sweep runs on Ray, which is not installed: pip install '
        "'drvf_tf[sweep]' (--dry_run works without).")


def _check_reachable(address: Optional[str]) -> None:
  """Ray itself would try for minutes."""
  place = re.fullmatch(r'(?:ray://)?([^/]+):(\d+)', address or '')
  if not place:
    return
  try:
    socket.create_connection((place.group(1), int(place.group(2))), 10).close()
  except (OSError, OverflowError) as error:
    raise errors.UserError(
        f'Nobody answers at --address={address} ({error}): start a cluster '
        'there with `ray start --head`, or leave --address out.') from error


class RayPool:
  """Runs attempts on this machine, or on a Ray cluster."""

  def __init__(self, address: Optional[str], cpus_per_run: int,
               gpus_per_run: float):
    """Starts Ray here, or connects to a cluster.

    Args:
      address: Of the cluster, as `ray.init` takes it; None: this machine. The
        project, its Python and the folder of the sweep must be at the same
        paths on every machine.
      cpus_per_run: CPUs that an attempt occupies.
      gpus_per_run: GPUs that an attempt occupies; several share one below 1.

    Raises:
      UserError: The cluster cannot be reached, or a run fits on no machine.
    """
    check_installed()
    _check_reachable(address)
    # Read when Ray is imported, or inherited by its processes.
    os.environ.setdefault('RAY_USAGE_STATS_ENABLED', '0')
    # Ray would start its workers, and our runs from them, at niceness 15.
    os.environ.setdefault('RAY_worker_niceness', '0')
    if project_files.is_checkout():  # it need not be installed
      os.environ['PYTHONPATH'] = os.pathsep.join(filter(
          None, [str(project_files.ROOT), os.environ.get('PYTHONPATH')]))
    import ray
    self._ray = ray
    self._keys: dict[Any, Hashable] = {}
    local = {'include_dashboard': False, 'object_store_memory': _OBJECT_STORE}
    try:
      ray.init(address=address or 'local', log_to_driver=False,
               logging_level=logging.ERROR, **({} if address else local))
    except (ConnectionError, ValueError, RuntimeError) as error:
      reason = ' '.join(str(error).split())
      raise errors.UserError(
          f'Ray cannot be used at {address or "this machine"}: {reason}'
          ) from error
    self._check_room(cpus_per_run, gpus_per_run)
    # The sweep counts attempts itself: a worker that dies is one of them.
    self._remote = ray.remote(
        num_cpus=cpus_per_run, num_gpus=gpus_per_run, max_retries=0)(
            attempt.run)

  def submit(self, key: Hashable, job: attempt.Job) -> None:
    """Queues an attempt; it starts as soon as a machine has room."""
    self._keys[self._remote.remote(job)] = key

  def wait(self, seconds: float) -> list[tuple[Hashable, attempt.Outcome]]:
    """The attempts that have ended; waits for the first of them.

    Args:
      seconds: At most this long.

    Returns:
      Key and outcome of each.
    """
    references = list(self._keys)
    done, _ = self._ray.wait(references, timeout=seconds)
    return [(self._keys.pop(reference), self._outcome(reference))
            for reference in done]

  def close(self) -> None:
    """Ends Ray here, or leaves the cluster; with it whatever still runs."""
    self._ray.shutdown()

  def _outcome(self, reference: Any) -> attempt.Outcome:
    try:
      return self._ray.get(reference)
    except self._ray.exceptions.RayError as error:
      lines = str(error).strip().splitlines()
      kind = type(error).__name__
      return attempt.Outcome(
          attempt.Ending.CRASHED,
          f'Ray lost it ({kind}: {lines[0] if lines else ""})')

  def _check_room(self, cpus: int, gpus: float) -> None:
    for node in self._ray.nodes():
      room = node['Resources']
      if node['Alive'] and (room.get('CPU', 0) >= cpus
                            and room.get('GPU', 0) >= gpus):
        return
    self.close()
    raise errors.UserError(
        f'No machine here has the {cpus} CPU(s) and {gpus:g} GPU(s) of one '
        'run: lower --cpus_per_run or --gpus_per_run.')
