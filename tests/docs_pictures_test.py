"""tools/docs.sh draws every picture that README.md and docs/ show."""
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parents[1]


def _shown():
  """The pictures that the pages show, relative to the project."""
  found = set()
  for page in (ROOT / 'README.md', *(ROOT / 'docs').rglob('*.md')):
    for match in re.finditer(
        r'!\[[^]]*\]\(([^)\s]+)|<img[^>]*src="([^"]+)"', page.read_text()):
      name = match[1] or match[2]
      if not name.startswith('http'):
        path = (page.parent / name).resolve()
        found.add(str(path.relative_to(ROOT)))
  return found


def _docs(folder, *words):
  return subprocess.run(['bash', str(folder / 'tools' / 'docs.sh'), *words],
                        capture_output=True, text=True, check=False)


def test_every_picture_has_its_command():
  result = _docs(ROOT, '--list')
  assert result.returncode == 0, result.stderr
  drawn = {line.partition(':')[0] for line in result.stdout.splitlines()}
  assert _shown() == drawn
  for path in drawn:
    assert (ROOT / path).is_file(), path


def test_finished_runs_are_used_and_others_named(tmp_path):
  (tmp_path / 'tools').mkdir()
  (tmp_path / 'docs' / 'results').mkdir(parents=True)
  shutil.copy(ROOT / 'tools' / 'docs.sh', tmp_path / 'tools')
  for name, facts in (('quickstart_seed0', '{"finished": "now"}'),
                      ('quickstart_seed1', '{}')):
    (tmp_path / 'kept' / name).mkdir(parents=True)
    (tmp_path / 'kept' / name / 'run.json').write_text(facts)
    (tmp_path / 'kept' / name / 'curve.png').write_text('a picture')
  result = _docs(tmp_path, '--list', '--runs=kept')
  assert '_seed0.png: curve.png of finished run kept/quickstart_seed0' in (
      result.stdout)
  assert 'kept/quickstart_seed1, to be trained' in result.stdout
  listed = [line.partition(':')[0] for line in result.stdout.splitlines()]
  result = _docs(tmp_path, '--runs=kept', '/bin/false')  # nothing can be run
  assert result.returncode == 1
  assert [path.name for path in (tmp_path / 'docs' / 'results').iterdir()] == [
      'quickstart_seed0.png']
  *reasons, last = result.stderr.splitlines()
  assert ('docs/results/quickstart_seed1.png stays as it is: launch/train.py '
          'could not train kept/quickstart_seed1.') in reasons
  assert ('docs/results/hopper_uncertainty.png stays as it is: there is no '
          'finished run in kept/hopper_drvf.') in reasons
  assert last.startswith('Not drawn, for the reasons above: one_dimension.png')
  listed.remove('docs/results/quickstart_seed0.png')
  assert [line.split()[0] for line in reasons] == listed  # one for each
  assert 'quickstart_seed0' not in result.stderr


def test_an_unknown_option_is_refused():
  result = _docs(ROOT, '--lists')
  assert result.returncode == 2
  assert '--lists is not an option' in result.stderr
