"""Compiles D4RL's old MuJoCo models as MuJoCo 2.1.0 would have.

D4RL's data come from MuJoCo 2.1.0. A newer MuJoCo reads the same XML into
another robot: it dropped global coordinates, and it corrected the inertia of
capsules. Both are undone here, before and after compilation.
"""
import copy
import xml.etree.ElementTree as ET
from collections.abc import Iterable

import mujoco
import numpy as np


def load(path: str) -> mujoco.MjModel:
  """Compiles the XML file `path` with MuJoCo 2.1.0's masses and inertias."""
  root = ET.parse(path).getroot()
  _global_to_local(root)
  return _with_old_capsule_inertia(root, _compile(root))


def _compile(root: ET.Element) -> mujoco.MjModel:
  return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding='unicode'))


def _numbers(values: Iterable[float]) -> str:
  return ' '.join(repr(float(v)) for v in values)


def _global_to_local(root: ET.Element) -> None:
  """MuJoCo > 2.3.3 dropped coordinate="global" (hopper.xml, walker2d.xml)."""
  compiler = root.find('compiler')
  if compiler is None or compiler.attrib.pop('coordinate', '') != 'global':
    return
  if any(body.get(key) for body in root.iter('body')
         for key in ('quat', 'euler', 'axisangle', 'xyaxes', 'zaxis')):
    raise NotImplementedError('rotated bodies in global coordinates')
  worldbody = root.find('worldbody')
  assert worldbody is not None
  for body in worldbody.findall('body'):
    _to_local(body, np.zeros(3))


def _to_local(element: ET.Element, parent_origin: np.ndarray) -> None:
  """Rewrites one body's children from global to local coordinates in place."""
  # gym's hopper.xml has pos="0.13/2 0 0.1"; a body's own origin is arbitrary
  # in global coordinates (joints and geoms are placed absolutely).
  pos = [float(t.split('/')[0]) for t in element.get('pos', '0 0 0').split()]
  origin = np.array(pos)
  element.set('pos', _numbers(origin - parent_origin))
  for child in element:
    if child.tag == 'body':
      _to_local(child, origin)
      continue
    for key in ('pos', 'fromto'):
      if key in child.attrib and child.tag != 'inertial':
        xyz = np.array(child.get(key, '').split(), float).reshape(-1, 3)
        child.set(key, _numbers((xyz - origin).ravel()))


def _with_old_capsule_inertia(
    root: ET.Element, model: mujoco.MjModel) -> mujoco.MjModel:
  """Gives `model` the masses and inertias MuJoCo <= 2.1.0 would compile.

  Up to 2.1.0 inertiafromgeom took a capsule for a cylinder longer by half a
  radius at each end; 2.1.1 made it exact (2-7 % of a body's mass). Compile a
  twin with such cylinders and copy its inertial fields.
  """
  twin_root = copy.deepcopy(root)
  for geom in twin_root.iter('geom'):
    if geom.get('type') == 'capsule':
      _capsule_to_cylinder(geom)
  twin = _compile(twin_root)
  for field in ('body_mass', 'body_inertia', 'body_ipos', 'body_iquat'):
    getattr(model, field)[:] = getattr(twin, field)
  mujoco.mj_setConst(model, mujoco.MjData(model))
  return model


def _capsule_to_cylinder(geom: ET.Element) -> None:
  geom.set('type', 'cylinder')
  size = np.array(geom.get('size', '').split(), float)
  if 'fromto' in geom.attrib:
    a, b = np.array(geom.get('fromto', '').split(), float).reshape(2, 3)
    extra = (b - a) / np.linalg.norm(b - a) * size[0] / 2
    geom.set('fromto', _numbers([*(a - extra), *(b + extra)]))
  else:
    size[1] += size[0] / 2
    geom.set('size', _numbers(size))
