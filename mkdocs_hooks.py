"""How does the site take in more than `docs/`? Pages that the repository keeps elsewhere, files that pages
link to, and patterns in the navigation.

Documents link to each other and to files of the repository by relative paths, so that they can be read where
they lie. In the site everything of `docs/` stands at the top, and the rest at its path in the repository.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
DOCS = "docs/"
# The page that lists all commands; its own name would collide with the page of `satchel index`.
RENAMED = {"docs/commands/README.md": "commands/overview.md", "README.md": "index.md"}
MORE_PAGES = ("CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/commands/README.md")
AGENTS_LIST = "llms.txt"
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
HOME = re.compile(r'href="((?:\.\.?/?)+)"')
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace the patterns of the navigation by the pages that no other line names."""
    named = set(_names(config.nav))
    config.nav = _expanded(config.nav, named)
    return config


def _names(nav: Any) -> list[str]:
    """Return all pages and patterns of a navigation."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav or ()
    return [name for part in parts for name in _names(part)]


def _expanded(nav: Any, named: set[str]) -> Any:
    """Return a navigation with pages in place of its patterns."""
    if isinstance(nav, dict):
        return {title: _expanded(part, named) for title, part in nav.items()}
    if not isinstance(nav, list):
        return nav
    found: list[Any] = []
    for part in nav:
        is_pattern = isinstance(part, str) and "*" in part
        found += _matching(part, named) if is_pattern else [_expanded(part, named)]
    return found


def _matching(pattern: str, named: set[str]) -> list[str]:
    pages = (path.relative_to(ROOT / DOCS).as_posix() for path in (ROOT / DOCS).rglob("*.md"))
    same_depth = (page for page in pages if fnmatch(page, pattern) and page.count("/") == pattern.count("/"))
    return sorted(page for page in same_depth if page not in named and DOCS + page not in RENAMED)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are kept outside of `docs/`, and every file that a page leads to."""
    for path in MORE_PAGES:
        files.append(File.generated(config, _site_path(path), abs_src_path=str(ROOT / path)))
    for source in (*(_repository_path(page.src_uri) for page in files.documentation_pages()), AGENTS_LIST):
        for target in _targets(source, (ROOT / source).read_text(encoding="utf-8")):
            place = _site_path(target)
            if (ROOT / target).is_file() and files.get_file_from_path(place) is None:
                files.append(File.generated(config, place, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead every link of a page to the place of its target in the site; one to a folder becomes text."""
    source = _repository_path(page.file.src_uri)

    def led(match: re.Match[str]) -> str:
        target = _resolved(source, match[2])
        here = posixpath.dirname(page.file.src_uri)
        return f"{match[1]}{posixpath.relpath(_site_path(target), here or '.')}{match[3]}"

    outside = [(fence.start(), fence.end()) for fence in FENCE.finditer(markdown)]
    parts, last = [], 0
    for start, end in [*outside, (len(markdown), len(markdown))]:
        parts += [LINK.sub(led, _without_folders(source, markdown[last:start])), markdown[start:end]]
        last = end
    return "".join(parts)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the home page in links to it: where a site is read from files, its folder would be shown."""
    return HOME.sub(lambda match: f'href="{match[1].rstrip("/")}/index.html"', output)


def on_post_build(config: MkDocsConfig) -> None:
    """Write `llms.txt`, which agents look for at the top of a site, with links to the pages of the site."""

    def led(match: re.Match[str]) -> str:
        place = _site_path(_resolved(AGENTS_LIST, match[2]))
        return f"{match[1]}{re.sub(r'[.]md$', '.html', place)}{match[3]}"

    text = LINK.sub(led, (ROOT / AGENTS_LIST).read_text(encoding="utf-8"))
    Path(config.site_dir, AGENTS_LIST).write_text(text, encoding="utf-8")


def _without_folders(source: str, markdown: str) -> str:
    """Return Markdown in which links to folders are plain text: a site shows files, not folders."""

    def plain(match: re.Match[str]) -> str:
        return match[1] if (ROOT / _resolved(source, match[2])).is_dir() else match[0]

    return re.sub(r"\[([^\]]+)\]\(([^)#:\s]+)\)", plain, markdown)


def _targets(source: str, markdown: str) -> set[str]:
    """Return the files of the repository that a page links to."""
    return {_resolved(source, match[2]) for match in LINK.finditer(FENCE.sub("", markdown))}


def _resolved(source: str, link: str) -> str:
    """Return the path in the repository that a link of a document means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def _site_path(path: str) -> str:
    """Return where a file of the repository stands in the site."""
    return RENAMED.get(path) or path.removeprefix(DOCS)


def _repository_path(place: str) -> str:
    """Return the file of the repository that stands at a place of the site."""
    renamed = {shown: path for path, shown in RENAMED.items() if path in MORE_PAGES}
    return renamed.get(place) or (place if place in MORE_PAGES else DOCS + place)
