"""Becomes another command, which gets SIGTERM when this one's parent dies.

python die_with_parent.py <process id of the parent> <command> ...

A script rather than a function between fork and exec: Ray's workers have
threads, which make the latter unsafe.
"""
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
  """Ties itself to its parent and becomes the command."""
  if sys.platform == 'linux':
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
  if os.getppid() != int(sys.argv[1]):  # it died before that
    sys.exit(128 + signal.SIGTERM)
  # Ray blocks SIGINT for all that it starts; a run takes it as a wish to stop.
  signal.pthread_sigmask(signal.SIG_SETMASK, ())
  os.execv(sys.argv[2], sys.argv[2:])


if __name__ == '__main__':
  main()
