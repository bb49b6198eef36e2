"""The versions that a result depends on."""
import importlib.metadata

_PACKAGES = ('drvf_tf', 'tensorflow', 'tensorflow-cpu', 'tf-agents',
             'tensorflow-probability', 'numpy', 'mujoco', 'd4rl', 'gym',
             'gin-config')


def installed() -> dict[str, str]:
  """Versions by package name; what is not installed is left out."""
  versions = {}
  for package in _PACKAGES:
    try:
      versions[package] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
      continue
  return versions
