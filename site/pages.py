"""Brings what stands outside docs/ into the site: the README as its first page, and what the documents link to."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parent.parent
_OUTSIDE = re.compile(r"\]\(\.\./([a-z]+/[^)#]*)")
_BESIDE = re.compile(r"\]\((?!https?:|docs/|\.\.)([^)#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, and every file outside docs/ that it or one of the documents links to."""
    readme = (_ROOT / "README.md").read_text("utf-8")
    waiting = {path for file in files.documentation_pages() for path in _OUTSIDE.findall(file.content_string)}
    waiting.update(_BESIDE.findall(readme))
    linked: set[str] = set()
    while waiting:
        path = waiting.pop()
        linked.add(path)
        text = (_ROOT / path).read_text("utf-8") if path.endswith(".md") else ""
        beside = {(Path(path).parent / name).as_posix() for name in _BESIDE.findall(text)}
        waiting |= {name for name in beside - linked if (_ROOT / name).is_file()}
    for path in sorted(linked):
        files.append(File(path, str(_ROOT), config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, "index.md", content=readme.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point the links out of docs/ at the pages that were added; those of the added ones into docs/ likewise."""
    if page.file.src_uri in ("index.md", page.file.name + ".md"):
        return _OUTSIDE.sub(r"](\1", markdown).replace("](docs/", "](")
    return markdown.replace("](../docs/", "](../").replace("](../../docs/", "](../../")
