"""The viewer in a real browser: every page and button, keys, dark, a narrow screen, hostile content, no request
that leaves the machine. Skipped where chromium is not found."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from http_server import serving
from viewer_server import EVIL_NAME, Viewer, make_repository, viewing

from satchel.file_writing import replace_file
from satchel.library.catalogues import open_catalogue
from satchel.library.grants import Grant
from satchel.library.library import Library
from satchel.library.tokens import TokenBook

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
AXE = "axe-core@4.14.0"  # npm brings it once, into a cache of the machine

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
sync_api = pytest.importorskip("playwright.sync_api")

OPERATOR = "the token of the operator"
PAGES = {
    "home": "/",
    "ask": "/?q=basket",
    "explained": "/?q=basket&explain=2",
    "pack": "/pack?q=basket+total+price&left=1",
    "review": "/pack?diff=HEAD~1..HEAD",
    "folder": "/code/",
    "code": "/code/src/money.py?lines=4-6&name=add_money",
    "evil name": f"/code/{quote(EVIL_NAME)}",
    "evil html": "/code/src/evil.html",
    "evil markdown": "/code/docs/evil.md",
    "bidi": "/code/src/bidi.py",
    "long line": "/code/docs/long.md",
    "map": "/map",
    "neighbours": "/map?name=add_money",
    "quality": "/quality",
    "status": "/status",
    "error": "/code/nowhere.py",
}


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    root = make_repository(tmp_path_factory.mktemp("browser") / "shop")
    with viewing(root) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """A page of a signed-in browser, and what it asked for and complained about."""

    def __init__(self, page: sync_api.Page, viewer: Viewer) -> None:
        self.page = page
        self.base = viewer.base
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "console",
            lambda message: self.complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def go(self, path: str) -> sync_api.Page:
        self.page.goto(self.base + path)
        return self.page

    def check(self) -> None:
        """Nothing ran that is not ours, nothing was asked of another machine, nothing is wider than the page."""
        assert self.page.evaluate("window.hacked") is None
        assert all(url.startswith(f"{self.base}/") for url in self.requests), self.requests
        assert [text for text in self.complaints if "404" not in text] == []
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, self.page.url


def until(page: sync_api.Page, expression: str) -> None:
    """Wait until an expression is true. Playwright's own waiting evaluates a string in the page, which its
    policy forbids."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never true: {expression}")


@pytest.fixture(scope="module")
def signed_in(browser: sync_api.Browser, viewer: Viewer) -> list[dict[str, object]]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(viewer.url)
    assert page.url == f"{viewer.base}/"  # the key is gone from the address
    cookies = context.cookies()
    assert [cookie["httpOnly"] for cookie in cookies] == [True] and cookies[0]["sameSite"] == "Strict"
    context.close()
    return cookies


@pytest.fixture
def watched(
    browser: sync_api.Browser, viewer: Viewer, signed_in: list[dict[str, object]]
) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(10_000)
    context.add_cookies(signed_in)
    found = Watched(context.new_page(), viewer)
    yield found
    found.check()
    context.close()


def test_every_page_is_calm_in_light_and_dark_on_wide_and_narrow_screens(
    browser: sync_api.Browser, viewer: Viewer, signed_in: list[dict[str, object]]
) -> None:
    for width, scheme in ((1280, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.add_cookies(signed_in)
        found = Watched(context.new_page(), viewer)
        for path in PAGES.values():
            page = found.go(path)
            assert page.locator("h1").count() >= 1
            found.check()
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(background.removeprefix("rgb(").partition(",")[0]) < 60) == (scheme == "dark")
        context.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core: that of the cache, or what npm brings."""
    default = Path.home() / ".cache" / "satchel-tests" / AXE / "axe.min.js"
    kept = Path(os.environ.get("SATCHEL_AXE", default))
    if not kept.is_file():
        folder = tmp_path_factory.mktemp("axe")
        npm = shutil.which("npm")
        done = npm and subprocess.run(
            [npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, timeout=300
        )
        if not done or done.returncode:
            pytest.skip("neither npm nor its registry is here to bring axe-core")
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            script = archive.extractfile("package/axe.min.js")
            assert script is not None
            kept.parent.mkdir(parents=True, exist_ok=True)
            replace_file(kept, script.read())
    return kept.read_text()


def test_no_page_has_a_serious_finding_of_axe(watched: Watched, axe: str) -> None:
    serious = []
    dark = ("explained", "pack", "code", "map")  # has everything that a colour is given to
    for name in (*dark, "home", "review", "folder", "neighbours", "quality", "status"):
        for scheme in ("light", "dark") if name in dark else ("light",):
            watched.page.emulate_media(color_scheme=scheme)
            page = watched.go(PAGES[name])
            page.evaluate(axe)  # evaluated by the debugger, which a policy does not bind
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            serious += [
                (name, scheme, one["id"], one["nodes"][0]["html"][:200])
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
    assert serious == [], "\n".join(map(str, serious))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of three repositories, one of them hostile."""
    folder = tmp_path_factory.mktemp("library")
    found = Library.open(str(folder / "books"))
    found.catalogue.create()
    for name, group in (("shop", "web"), ("till", "core"), ("bank", "core")):
        found.add(str(make_repository(folder / name)), groups=(group,))
    return found.folder


def test_a_library_is_looked_at_with_a_token_that_a_browser_is_asked_for(
    browser: sync_api.Browser, library: Path, axe: str
) -> None:
    secret, _ = TokenBook(open_catalogue(library)).create("web-team", Grant((), ("web",)))
    with serving(None, "--library", str(library), "--workers", "1", "--token", OPERATOR) as server:
        for token, repositories, tokens in ((OPERATOR, 3, "Tokens"), (secret, 1, "Your token")):
            context = browser.new_context(viewport={"width": 390, "height": 800})
            found = Watched(context.new_page(), Viewer(server.url))
            page = found.go("/status")
            page.fill("#token", token)
            page.click("button.primary")
            until(page, "document.querySelector('#repositories') !== null")
            assert page.locator("#repositories table >> nth=0 >> tbody tr").count() == repositories
            assert tokens in page.locator("#repositories").inner_text()
            page.evaluate(axe)
            violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
            for path in ("/", "/?q=basket", "/pack?q=basket", "/code/", "/map", "/code/shop/src/evil.html"):
                found.go(path)
                found.check()
            assert found.page.locator("h1").count() >= 1
            context.close()


def test_without_a_script_links_and_forms_do_it(
    browser: sync_api.Browser, viewer: Viewer, signed_in: list[dict[str, object]]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(signed_in)
    page = context.new_page()
    page.goto(f"{viewer.base}/")
    page.fill("#q", "add money")
    page.click("button.primary")
    assert page.locator(".hit").count() > 1
    page.click(".hit .path >> nth=0")
    assert page.locator("tr.hit").count() > 0 and page.locator(".outline a").count() > 0
    page.goto(f"{viewer.base}/pack?q=basket&budget=300")
    page.click("text=See what enters at larger budgets")
    assert "enters by" in page.content() or "adds nothing" in page.content()
    assert page.locator("[data-theme-toggle]").is_visible() is False
    context.close()


def test_asking_filtering_and_explaining(watched: Watched) -> None:
    page = watched.go("/")
    page.wait_for_selector("#central table")  # fetched by itself
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("basket")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.click(".chip >> nth=0")
    page.wait_for_selector(".chip.on")
    page.click(".chip.on")
    until(page, "!document.querySelector('.chip.on')")
    page.click("[data-explain] >> nth=0")
    page.wait_for_selector("#explained-title")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("?")
    until(
        page, "document.querySelectorAll('.explained').length === 1 && location.search.includes('explain=2')"
    )
    page.click("text=More hits") if page.locator("text=More hits").count() else None
    page.click("text=Pack this question")
    page.wait_for_selector(".piece")


def test_keys_lead_through_pages(watched: Watched) -> None:
    page = watched.go("/?q=basket")
    for key, path in (
        ("p", "/pack"),
        ("c", "/code"),
        ("m", "/map"),
        ("q", "/quality"),
        ("s", "/status"),
        ("a", "/"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(lambda url, path=path: url.split("?")[0] == watched.base + path)
        page.keyboard.press("Escape")
    watched.go("/?q=basket")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "hit-1"
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/code/**")
    page.keyboard.press("h")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert page.evaluate("document.activeElement !== null")


def test_the_theme_is_kept(watched: Watched) -> None:
    page = watched.go("/status")
    page.click("[data-theme-toggle]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    watched.go("/map")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_sliders_pack_again_and_buttons_copy(watched: Watched) -> None:
    page = watched.go("/pack?q=basket+total+price&budget=4000")
    before = page.locator(".used strong").inner_text()
    page.locator("#budget").evaluate(
        "(field) => { field.value = 500; field.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    until(page, "document.querySelector('.used').textContent.includes('of 500')")
    assert "budget=500" in page.url and page.locator("output[for=budget]").inner_text() == "500"
    page.locator("#docs").evaluate(
        "(field) => { field.value = 0; field.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    until(page, "location.search.includes('docs=0')")
    until(page, "!document.querySelector('#live.is-loading')")
    assert page.locator("#section-docs").count() == 0 and before
    for number, start in enumerate(("# Context:", "# ", "<context", "{")):
        page.locator("[data-copy]").nth(number).click()
        until(
            page, "[...document.querySelectorAll('[data-copy]')].some((one) => one.textContent === 'Copied')"
        )
        assert page.evaluate("navigator.clipboard.readText()").startswith(start)
        until(
            page, "![...document.querySelectorAll('[data-copy]')].some((one) => one.textContent === 'Copied')"
        )
    page.click("[data-load]")
    until(page, "!document.querySelector('[data-load]')")
    page.click(".budget .rows a >> nth=0")
    assert "#section-" in page.url


def test_lines_are_chosen_and_names_looked_up(watched: Watched) -> None:
    page = watched.go("/code/src/basket.py")
    page.click("#L6 .no a")
    page.click("#L8 .no a", modifiers=["Shift"])
    assert page.url.endswith("#L6-L8") and page.locator("tr.chosen").count() == 3
    page.locator("#L13 .tx i.f", has_text="add_money").click()
    page.wait_for_selector("#uses h2")
    assert (
        page.locator("#uses").inner_text().startswith("add_money")
        and "src/money.py" in page.locator("#uses").inner_text()
    )
    page.fill("#name", "Basket")
    page.click("text=Find")
    until(page, "document.querySelector('#uses h2').textContent === 'Basket'")
    page.click("#uses .definition a")
    assert "/code/src/basket.py" in page.url
    page.click("text=Link at")
    assert "ref=" in page.url and page.locator(".crumbs .at").count() == 1


def test_the_map_zooms_and_neighbours_open(watched: Watched) -> None:
    page = watched.go("/map")
    page.click("text=how central")
    until(page, "location.search.includes('used_by')")
    page.locator(".treemap a[aria-label^='docs/:'] rect").click(position={"x": 8, "y": 6})
    until(page, "location.search.includes('path=docs')")
    page.click("text=As a table")
    assert page.locator("details.table tr").count() > 2
    watched.go("/map?name=Basket.total_price")
    assert page.locator(".node").count() >= 2 and page.locator(".node.center").count() == 1
    if page.locator("[aria-label^=Open]").count():
        page.locator("[aria-label^=Open]").first.click()
        until(page, "location.search.includes('open=')")
    page.locator(".node a[data-in-place]").last.click()
    until(page, "location.search.includes('name=')")


def test_an_exported_file_opens_alone(watched: Watched, tmp_path: Path) -> None:
    from builders import run_cli

    root = make_repository(tmp_path / "shop")
    target = tmp_path / "review.html"
    assert run_cli("view", "--diff", "HEAD~1..HEAD", "--html", target, "-s", root).returncode == 0
    other = watched.page.context.new_page()
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(target.as_uri())
    assert asked == [target.as_uri()] and other.locator("tr.added").count() == 1
    # The style sheet is allowed by its hash.
    assert (
        other.evaluate("getComputedStyle(document.querySelector('tr.added td')).backgroundColor")
        != "rgba(0, 0, 0, 0)"
    )
    assert other.evaluate("window.hacked") is None
    other.close()
