"""The report as a whole: its files, its page, its captions."""
import csv
import html.parser
import re

import pytest

from drvf_tf import errors
from drvf_tf.report import page
from tests.report import made_up_runs


class _Page(html.parser.HTMLParser):
  """What a page loads, and its captions."""

  def __init__(self):
    super().__init__()
    self.loads, self.captions, self._inside = [], [], False

  def handle_starttag(self, tag, attributes):
    self.loads += [value for name, value in attributes
                   if name in ('src', 'href', 'data', 'srcset')]
    assert tag not in ('script', 'link', 'iframe', 'object')
    if tag == 'figcaption':
      self._inside = True
      self.captions.append('')

  def handle_endtag(self, tag):
    self._inside = self._inside and tag != 'figcaption'

  def handle_data(self, data):
    if self._inside:
      self.captions[-1] += data


@pytest.fixture(name='out', scope='module')
def _out(tmp_path_factory):
  folder = tmp_path_factory.mktemp('runs')
  for seed in (0, 1):
    made_up_runs.write(folder / f'a{seed}', seed, [[10.0, 50.0]] * 3,
                       [100.0 + seed])
  made_up_runs.write(
      folder / 'b', 0, [[20.0, 30.0]] * 3, [60.0],
      config=made_up_runs.CONFIG.replace('num_members = 5', 'num_members = 3'))
  made_up_runs.write(
      folder / 'h<i>', 0, [[20.0]], [1000.0], task='hopper-medium-v2',
      dataset="h.hdf5 (regenerated, not D4RL: D4RL's policy)")
  made_up_runs.write(folder / 'c', 7, [[1.0]], [2.0], finished=None)
  out = tmp_path_factory.mktemp('out') / 'deep' / 'report'
  (refusal,) = page.make([str(folder)], out)
  assert refusal.path.name == 'c'
  return out


def test_the_page_loads_nothing(out):
  text = (out / 'index.html').read_text()
  page = _Page()
  page.feed(text)
  pictures = list((out / 'figures').glob('*.png'))
  assert len(page.loads) == len(pictures) >= 5
  assert all(value.startswith('data:image/png;base64,') for value in page.loads)
  assert not re.search(r'https?://|url\(|@import', text)
  assert '<i>' not in text  # names are escaped


def test_captions_hold_budget_and_origin_of_the_data(out):
  page = _Page()
  page.feed((out / 'index.html').read_text())
  own = [caption for caption in page.captions
         if 'of "Diverse Randomized Value' not in caption
         and 'no data and no training' not in caption
         and 'not in this report' not in caption]
  assert len(own) >= 8
  for caption in own:
    assert 'generated, not D4RL' in caption, caption
    assert re.search(r'\d steps', caption), caption
    assert re.search(r'\d seeds?, ', caption), caption
    assert re.search(r'\d final episodes? a seed', caption), caption
  curves = next(c for c in own if 'hopper' in c and 'during training' in c)
  assert 'data regenerated, not D4RL' in curves
  assert "60 steps (2e-05 of the paper's 3M), batch 256" in curves


def test_tables_and_figures_are_files(out):
  with open(out / 'tables' / 'results.csv', encoding='utf-8') as file:
    rows = list(csv.DictReader(file))
  assert [(row['task'], row['method'], row['seeds']) for row in rows] == [
      ('hopper-medium-v2', 'DRVF', '1'), ('maze2d-umaze-v1', 'DRVF', '2'),
      ('maze2d-umaze-v1', 'DRVF, M=3', '1')]
  # (100.5 − 23.85) / 138.01, and half a return apart from the mean.
  assert rows[1]['final episodes'] == '55.5 ± 0.5'
  with open(out / 'tables' / 'beside_the_paper.csv', encoding='utf-8') as file:
    beside = list(csv.DictReader(file))
  assert beside[0]['the paper, same method'] == '102.0 ± 1.2'
  names = {path.stem for path in (out / 'figures').glob('*.png')}
  assert names == {path.stem for path in (out / 'figures').glob('*.svg')}
  assert {'curves_hopper-medium-v2', 'curves_maze2d-umaze-v1', 'pessimism',
          'variants_0_maze2d-umaze-v1', 'ablation_M_maze2d-umaze-v1',
          'smallest_members'} <= names
  text = (out / 'report.md').read_text()
  for name in re.findall(r'\]\(((?:tables|figures)/[^)]+)\)', text):
    assert (out / name).is_file(), name
  assert 'not finished' in text
  assert '--seed=0' in text


def test_what_the_paper_published_stands_apart(out):
  text = (out / 'index.html').read_text()
  own = text.index('<h2>Cost</h2>')
  assert own < text.index('published numbers</h2>') < text.index('Tesla P40')
  for name in ('cost', 'smallest_members'):
    with open(out / 'tables' / f'{name}.csv', encoding='utf-8') as file:
      assert not any('paper' in head for head in next(csv.reader(file)))


def test_a_score_to_reach_can_be_set(out, tmp_path):
  for members, value in ((3, 60.0), (5, 100.0)):
    made_up_runs.write(
        tmp_path / f'{members}', 0, [], [value],
        config=made_up_runs.CONFIG.replace('= 5', f'= {members}'))
  for target, smallest in ((20.0, '3'), (50.0, '5'), (90.0, 'none')):
    page.make([str(tmp_path)], out, target_score=target)
    with open(out / 'tables' / 'smallest_members.csv',
              encoding='utf-8') as file:
      (row,) = csv.DictReader(file)
    assert (row['score to reach'], row['smallest M']) == (
        f'{target:.1f}', smallest)  # 60 and 100 are scores of 26.2 and 55.2
    assert f'{target:g}, as asked' in (out / 'report.md').read_text()


def test_a_report_is_replaced_and_nothing_else_is(out, tmp_path):
  made_up_runs.write(tmp_path / 'run', 0, [[1.0]], [2.0])
  (out / 'figures' / 'stale.png').write_text('')
  page.make([str(tmp_path / 'run')], out)
  assert not (out / 'figures' / 'stale.png').exists()
  assert [path.name for path in out.parent.iterdir()] == ['report']
  before = sorted(tmp_path.rglob('*'))
  with pytest.raises(errors.UserError, match='name another folder'):
    page.make([str(tmp_path / 'run')], tmp_path / 'run')
  assert sorted(tmp_path.rglob('*')) == before


def test_no_finished_run_is_an_error_with_the_reasons(tmp_path):
  made_up_runs.write(tmp_path / 'a', 0, [[1.0]], [2.0], finished=None)
  with pytest.raises(errors.UserError, match='a: not finished'):
    page.make([str(tmp_path)], tmp_path / 'out')
  assert not (tmp_path / 'out').exists()
