"""Links between README.md, CHANGELOG.md and docs/ lead somewhere."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAGES = (ROOT / 'README.md', ROOT / 'CHANGELOG.md',
         *sorted((ROOT / 'docs').glob('*.md')))


def _anchors(page):
  """What GitHub and MkDocs both call a page's headings."""
  text = re.sub(r'```.*?```', '', page.read_text('utf-8'), flags=re.S)
  titles = re.findall(r'^#+ (.*)$', text, flags=re.M)
  return {re.sub(r'[^\w\- ]', '', title.lower(), flags=re.A).strip()
          .replace(' ', '-') for title in titles}


def dead_links(page):
  """Links of a page whose file or heading does not exist."""
  dead = []
  for link in re.findall(r'\]\(([^)\s]+)\)', page.read_text('utf-8')):
    if link.startswith('http'):
      continue
    name, _, anchor = link.partition('#')
    target = (page.parent / name).resolve() if name else page
    if not target.exists() or (anchor and anchor not in _anchors(target)):
      dead.append(link)
  return dead


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_links(page):
  assert not dead_links(page)


def test_a_dead_link_is_found(tmp_path):
  page = tmp_path / 'page.md'
  page.write_text('# A title\n[a](#a-title) [b](#another) [c](gone.md)')
  assert dead_links(page) == ['#another', 'gone.md']
