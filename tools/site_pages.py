"""Pages of the site that are not in docs/: README.md and CHANGELOG.md.

A hook of MkDocs. They are read where they are, so that there is one of each;
links are turned to where the site has what they point to.
"""
import pathlib

from mkdocs.structure import files as mkdocs_files

_ROOT = pathlib.Path(__file__).parents[1]
_PAGES = {'README.md': 'index.md', 'CHANGELOG.md': 'changes.md'}


def on_files(files, config):
  """Adds the pages."""
  for source, page in _PAGES.items():
    text = (_ROOT / source).read_text(encoding='utf-8')
    text = text.replace('](docs/', '](')
    for name, target in _PAGES.items():
      text = text.replace(f']({name}', f']({target}')
    files.append(mkdocs_files.File.generated(config, page, content=text))
  return files
