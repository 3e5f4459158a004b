"""The site of the documents: it is built without a warning, every link leads somewhere, and nothing is loaded from
elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class PageReader(HTMLParser):
    """Collects the links, the anchors and what a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)
                if (tag, name) in LOADED:
                    self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageReader]:
    return {path: PageReader(path.read_text()) for path in site.rglob("*.html")}


def is_elsewhere(link: str) -> bool:
    return link.startswith(("http://", "https://", "//", "mailto:", "data:"))


def test_every_link_leads_to_a_page_and_an_anchor(site: Path, pages: dict[Path, PageReader]) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are those of a server's root
            continue
        for link in page.links:
            name, anchor = urldefrag(unquote(link))
            target = (path.parent / name).resolve() if name else path
            if is_elsewhere(link):
                continue
            known = pages[target].anchors if target in pages else set()
            if not target.is_file() or (anchor and target in pages and anchor not in known):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_a_reader_loads_nothing_from_elsewhere(pages: dict[Path, PageReader]) -> None:
    assert [load for page in pages.values() for load in page.loads if is_elsewhere(load)] == []


def test_every_document_is_in_the_site_and_its_navigation(site: Path, pages: dict[Path, PageReader]) -> None:
    documents = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert documents <= {path.stem for path in site.glob("*.html")}
    home = pages[site / "index.html"].links
    assert {f"{name}.html" for name in documents} - {urldefrag(link)[0] for link in home} == set()


def test_the_search_index_is_a_file_that_needs_no_server(site: Path) -> None:
    assert "var __index" in (site / "search" / "search_index.js").read_text()[:40]


def test_the_file_for_agents_leads_to_documents_and_to_pages(site: Path) -> None:
    for folder in (ROOT, site):
        links = re.findall(r"\]\(([^)]+)\)", (folder / "llms.txt").read_text())
        assert len(links) > 20 and [link for link in links if not (folder / link).is_file()] == []


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_searches_the_site_without_a_server(site: Path) -> None:
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "commands" / "pack.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("ndcg", delay=20)
        page.locator(".md-search-result__item").first.wait_for(timeout=15_000)
        found = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
        browser.close()
    assert any("/measuring.html" in link for link in found)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture
def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("mkdocs_hooks", ROOT / "mkdocs_hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pattern_takes_in_pages_that_no_line_names(hooks: Any, tmp_path: Path) -> None:
    (tmp_path / "docs" / "commands").mkdir(parents=True)
    for name in ("named.md", "new.md", "another.md", "commands/pack.md"):
        (tmp_path / "docs" / name).write_text("# Page")
    hooks.ROOT = tmp_path
    nav = [{"How": ["named.md", "*.md"]}, {"Commands": ["commands/*.md"]}]
    found = hooks._expanded(nav, set(hooks._names(nav)))
    assert found == [{"How": ["named.md", "another.md", "new.md"]}, {"Commands": ["commands/pack.md"]}]


def test_links_lead_where_their_target_stands_in_the_site(hooks: Any) -> None:
    assert hooks._site_path(hooks._resolved("docs/packs.md", "../SECURITY.md")) == "SECURITY.md"
    assert hooks._site_path(hooks._resolved("SECURITY.md", "docs/packs.md")) == "packs.md"
    assert hooks._site_path(hooks._resolved("docs/commands/pack.md", "README.md")) == "commands/overview.md"
    folder = "see [contracts](../contracts/v1) and [packs](packs.md)"
    assert hooks._without_folders("docs/serving.md", folder) == "see contracts and [packs](packs.md)"
