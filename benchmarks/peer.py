"""One peer in a process of its own: it times itself, on request.

  peer.py <name> <setup.npz>

reads one request a line from standard input, until its end, and answers each
with one line of JSON on standard output:

  run 10            runs ten steps: {"cpu": seconds, "wall": seconds}
  check after.npz   runs the steps whose noise is in the setup, writes losses
                    and parameters: {"steps": 3}

The setup (`write_setup` of `drvf_tf/benchmark/peers.py`) has `group/name`:
initial weights, a batch, hyper-parameters, and noise for at least one step.
"""
import json
import os
import signal
import sys
import time

import numpy as np


def load(path):
  """The setup's arrays, by group and name."""
  groups = {}
  with np.load(path, allow_pickle=False) as file:
    for key in file.files:
      group, name = key.split('/')
      groups.setdefault(group, {})[name] = file[key]
  return groups


def make(name, setup):
  """The peer of that name."""
  if name == 'torch_edac':
    import torch_edac
    return torch_edac.Peer(setup)
  framework, form = name.split('_')
  if framework == 'torch':
    import torch_peer
    return torch_peer.Peer(setup, torch_peer.FORMS[form])
  import jax_peer
  return jax_peer.Peer(setup, jax_peer.FORMS[form])


def run(peer, count):
  """Times `count` steps; CPU time is that of all threads."""
  cpu, wall = time.process_time(), time.perf_counter()
  peer.run(int(count))
  return {'cpu': time.process_time() - cpu, 'wall': time.perf_counter() - wall}


def check(peer, setup, path):
  """Runs the steps with noise from outside, and writes what came of them."""
  noise = [setup[f'noise_{i}'] for i in range(len(setup))
           if f'noise_{i}' in setup]
  losses = [peer.update(draws) for draws in noise]  # critic, actor, alpha
  np.savez(path, **{'losses/all': np.array(losses)}, **{
      f'{group}/{name}': values for group, arrays in peer.state().items()
      for name, values in arrays.items()})
  return {'steps': len(losses)}


def main(name, path):
  """Answers until there are no more requests."""
  signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's end is ours
  answers = os.fdopen(os.dup(1), 'w')
  os.dup2(2, 1)  # what libraries print is no answer
  setup = load(path)
  peer = make(name, setup)
  for request in sys.stdin:
    what, argument = request.split()
    answer = (run(peer, argument) if what == 'run'
              else check(peer, setup, argument))
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == '__main__':
  main(*sys.argv[1:])
