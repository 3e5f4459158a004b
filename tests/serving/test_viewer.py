"""The pages of the viewer as they are sent: what they hold, who may read them, what a repository cannot do."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest
from builders import SHOP, make_tree, run_cli
from http_server import serving
from viewer_server import EVIL_NAME, Viewer, make_repository, viewing

from satchel import extras, plugins
from satchel.errors import Unsupported
from satchel.library.grants import Grant
from satchel.library.library import Library
from satchel.library.tokens import TokenBook
from satchel.serving.viewer import ask_page, map_page, templating
from satchel.serving.viewer.page import PageCalls, PageLinks, PageQuery
from satchel.serving.viewer.treemap import Box, lay_out
from satchel.walking.file_kinds import generated_reason

PAGES = (
    "/",
    "/?central=1",
    "/?q=basket",
    "/?q=basket&explain=2",
    "/pack?q=basket+total+price",
    "/pack?q=basket+total+price&left=1",
    "/pack?diff=HEAD~1..HEAD",
    "/code/",
    "/code/src/money.py?lines=4-6&name=add_money",
    "/code/src/money.py?ref=HEAD~1",
    f"/code/{quote(EVIL_NAME)}",
    "/code/src/evil.html",
    "/code/src/bidi.py",
    "/code/docs/long.md",
    "/code/docs/evil.md",
    "/map",
    "/map?path=src/&color=used_by",
    "/map?name=add_money",
    "/map?name=cv",
    "/map?diff=HEAD~1..HEAD",
    "/quality",
    "/status",
)
TOKEN = "a-token-of-the-test-0123456789"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("viewer") / "shop")


@pytest.fixture(scope="module")
def viewer(root: Path) -> Iterator[Viewer]:
    with viewing(root) as found:
        found.sign_in()
        yield found


class Inventory(HTMLParser):
    """Collects what a page could run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.attributes: list[str] = []
        self.tags: set[str] = set()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        if tag == "script":
            self.scripts.append(given.get("src"))
        self.attributes += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]


def inventory(text: str) -> Inventory:
    found = Inventory()
    found.feed(text)
    return found


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_our_script_alone_and_loads_nothing_from_elsewhere(viewer: Viewer, path: str) -> None:
    page = viewer.get(path)
    assert page.status == 200, page.text[:3000]
    found = inventory(page.text)
    assert len(found.scripts) == 1 and (found.scripts[0] or "").startswith("/assets/viewer.js")
    assert found.attributes == [] and "iframe" not in found.tags and "img" not in found.tags
    assert all(address.startswith(("/", "#")) and not address.startswith("//") for address in found.loaded)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store" and page.headers["x-frame-options"] == "DENY"
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.text)
    assert "ghp_16C7" not in page.text
    assert len(page.text) < 400_000  # a long line is cut


def test_the_address_signs_one_browser_in_and_no_second_one(root: Path) -> None:
    with viewing(root) as viewer:
        assert viewer.get("/").status == 303 and viewer.get("/").headers["location"] == "/login?next=/"
        first = viewer.sign_in()
        cookie = first.headers["set-cookie"].lower()
        assert first.status == 303 and "httponly" in cookie and "samesite=strict" in cookie
        assert viewer.get("/").status == 200
        viewer.cookie = ""
        again = viewer.get(viewer.start)
        assert again.status == 200 and "set-cookie" not in again.headers and "token" in again.text


def test_a_cookie_reads_pages_and_nothing_else(viewer: Viewer) -> None:
    assert (
        viewer.get("/v1/search", {"content-type": "application/json"}, "POST", '{"query": "basket"}').status
        == 401
    )
    assert viewer.get("/", {"sec-fetch-site": "same-site"}).status == 303  # another port of this machine
    assert viewer.get("/", {"sec-fetch-site": "cross-site"}).status == 303
    assert viewer.get("/", {"sec-fetch-site": "same-origin"}).status == 200
    assert viewer.get("/", {"cookie": f"satchel_session_{viewer.port}=wrong"}).status == 303
    assert viewer.get("/", {"host": "evil.example"}).status == 421
    assert viewer.get("/", {"origin": "https://evil.example"}).status == 403


def test_a_page_waits_for_a_first_index(viewer: Viewer) -> None:
    shared = {
        "page": "",
        "title": "Ask",
        "pages": (),
        "theme": "",
        "projects": ["shop"],
        "project": "shop",
        "q": "",
        "notes": [],
    }
    error = {"code": "index_missing", "message": "there is no index yet", "hint": "larger max_reindex_ms"}

    def page(**values: Any) -> str:
        return templating.render(
            "error.html", PageLinks(), {**shared, "error": error, "busy": None, **values}
        )

    for waiting in (True, False):
        text = page(waiting=waiting)
        assert ('http-equiv="refresh"' in text) == waiting and "there is no index yet" in text
    busy = page(waiting=True, busy=(1_024, 4_172))
    assert '<progress value="1024" max="4172"' in busy and "1,024 of 4,172 files done." in busy
    assert "max_reindex_ms" not in busy, "an option of the API is of no use to who reads a page"
    assert 'http-equiv="refresh"' not in viewer.get("/code/nowhere.py").text


def test_a_page_without_hits_says_what_to_do(viewer: Viewer) -> None:
    text = viewer.get("/?q=zzqqxx").text
    assert "Nothing found" in text
    assert "/status#skipped" in text or "Searches that this index can answer" in text
    filtered = viewer.get("/?q=basket&language=cobol").text
    assert "take one away" in filtered or "Searches that this index can answer" in filtered


def test_the_whole_graph_of_a_large_tree_is_read_on_demand(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'data-auto="#central"' in viewer.get("/").text
    monkeypatch.setattr(ask_page, "_QUICK_GRAPH", 3)
    answers = {"stats": {"files": 4}, "files": {"files": [], "total": 0}}
    calls = SimpleNamespace(ask=lambda action, **payload: answers[action])
    assert ask_page.view(cast(PageCalls, calls), PageQuery({}), PageLinks())["central_is_quick"] is False


@pytest.mark.parametrize("most", [0, 1, 2, 4, 7, 13, 15, 255, 1_000])
def test_the_legend_of_a_map_says_which_values_have_a_colour(most: int) -> None:
    paint = map_page._Paint([{"language": "c", "bytes": 1, "used_by": most}], "used_by")
    bounds = {kind: 0 if text == "none" else int(text[6:].replace(",", "")) for kind, text in paint.legend}
    assert list(bounds.values()) == sorted(set(bounds.values())) and max(bounds.values()) == most
    for value in range(most + 1):
        color, _ = paint.of({"language": "c", "used_by": value})
        assert color == next(kind for kind, bound in bounds.items() if value <= bound)


def test_the_page_of_a_review_holds_what_an_agent_gets(viewer: Viewer, root: Path) -> None:
    page = viewer.get("/pack?diff=HEAD~1..HEAD&budget=800").text
    text = run_cli("pack", "--diff", "HEAD~1..HEAD", "--budget-tokens", "800", "-s", root).stdout.decode()
    items, used = re.search(r"(\d+) items?, (\d+) of 800", text).groups()
    assert page.count('class="state st-true"') == int(items)
    assert f"<strong>{int(used):,}</strong> of 800 tokens" in page


def test_the_legend_names_only_what_the_bars_show(viewer: Viewer) -> None:
    text = viewer.get("/?q=basket").text
    legend = set(
        re.findall(r'<i class="dot g-(\w+)"></i>', text.partition('class="legend"')[2].partition("</div>")[0])
    )
    assert legend and legend == set(re.findall(r'<rect class="g-(\w+)', text))


def test_a_missing_file_leads_to_what_was_left_out(viewer: Viewer) -> None:
    text = viewer.get("/code/nowhere.py").text
    assert "nowhere.py is not in the index" in text and 'href="/status#skipped"' in text


def test_two_viewers_of_one_machine_do_not_sign_each_other_out(root: Path, viewer: Viewer) -> None:
    with viewing(root) as second:
        second.sign_in()
        both = f"{viewer.cookie}; {second.cookie}"
        assert viewer.cookie.partition("=")[0] != second.cookie.partition("=")[0]
        assert viewer.get("/", {"cookie": both}).status == second.get("/", {"cookie": both}).status == 200


def test_a_server_with_a_token_asks_a_browser_for_it(root: Path) -> None:
    with serving(root, "--workers", "1", "--token", TOKEN) as server:
        viewer = Viewer(server.url)
        asked = viewer.get("/pack?q=basket")
        assert (asked.status, asked.headers["location"]) == (303, "/login?next=/pack%3Fq%3Dbasket")
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert viewer.get("/login", form, "POST", "token=wrong").status == 401
        done = viewer.get("/login?next=/pack%3Fq%3Dbasket", form, "POST", f"token={TOKEN}")
        assert (done.status, done.headers["location"]) == (303, "/pack?q=basket")
        viewer.cookie = done.headers["set-cookie"].partition(";")[0]
        assert TOKEN not in viewer.cookie and "budget" in viewer.get("/pack?q=basket").text
        for target in ("https://evil.example/", "//evil.example", "/\\evil.example"):
            away = viewer.get(f"/login?next={quote(target)}", form, "POST", f"token={TOKEN}")
            assert away.headers["location"] == "/"


def test_a_program_still_gets_the_list_of_routes(root: Path) -> None:
    with serving(root, "--workers", "2") as server:  # whose answers come from other processes
        assert server.call("/").body.startswith(b"Satchel. ")
        page = server.call("/", headers={"accept": "text/html,*/*"})
        assert (
            page.headers["content-type"].startswith("text/html")
            and b"What the code rests on" in page.body
            and b"add_money" not in page.body
        )
        assert b"add_money" in server.call("/?central=1", headers={"accept": "text/html"}).body


def test_several_folders_are_pages_of_one_server(root: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other", {"lamp.py": "def lamp():\n    return 'light'\n"})
    with serving(root, "--segment", str(other), "--workers", "1") as server:
        viewer = Viewer(server.url)
        assert "lamp.py" in viewer.get("/code/?project=other").text
        page = viewer.get("/?q=lamp&project=other").text
        assert "lamp.py" in page and "project=other" in page and "src/money.py" not in page


def test_ask_shows_hits_with_their_lines_signals_and_filters(viewer: Viewer) -> None:
    page = viewer.get("/?q=add+money").text
    assert "src/money.py" in page and "<mark>add</mark>_<mark>money</mark>" in page and "g-words" in page
    assert "language=python" in html.unescape(viewer.get("/?q=basket").text)
    narrowed = viewer.get("/?q=basket&path_prefix=docs").text
    assert "Remove the filter path prefix docs" in narrowed and 'href="/code/src' not in narrowed
    explained = viewer.get("/?q=basket&explain=1&explain=3").text
    assert "Why 1 before 3" in explained and "unit" in explained
    odd = viewer.get("/?q=basket&self=1&name=2&a%20b=3&explain=x&explain=9999999999&k=3")
    assert odd.status == 200 and odd.text.count("data-rank=") == 3
    refused = viewer.get("/?q=basket&chunk_type=nonsense").text
    assert 'id="q"' in refused and "nonsense" in refused  # the question can be asked again
    nothing = viewer.get("/?q=zzqqxx").text
    assert "Nothing found" in nothing


def test_pack_shows_what_the_command_packs_and_what_enters_later(viewer: Viewer) -> None:
    page = viewer.get("/pack?q=basket+total+price&budget=200&left=1").text
    assert re.search(r"<strong>\d+</strong> of 200 tokens", page)
    assert 'class="state st-true"' in page and "st-changed" not in page
    assert "enters by" in page and ">250<" in page
    text = viewer.get("/pack/text?q=basket+total+price&budget=500&format=markdown")
    assert text.headers["content-type"].startswith("text/plain") and "src/basket.py" in text.text
    small = viewer.get("/pack?q=basket+total+price&budget=3").text
    assert 'id="budget"' in small and "a budget of 3 tokens does not hold" in small
    capped = viewer.get("/pack?q=basket+total+price&docs=0&tests=0").text
    assert 'id="section-tests"' not in capped and 'id="section-definitions"' in capped


def test_a_review_marks_added_and_removed_lines(viewer: Viewer) -> None:
    page = viewer.get("/pack?diff=HEAD~1..HEAD").text
    assert re.search(r'<tr class="added">.*?</tr>', page)[0].count("round")
    assert re.search(r'<tr class="removed">.*?</tr>', page)
    assert len(re.findall(r'<tr class="added">', page)) == 1


def test_code_has_anchors_an_outline_and_the_uses_of_a_name_at_any_commit(viewer: Viewer) -> None:
    page = viewer.get("/code/src/money.py?lines=4-6&name=add_money").text
    assert 'id="L4" class="hit"' in page and 'href="#L6"' in page and "src/basket.py" in page
    assert '<i class="k">def</i>' in page and "round</i>(" in page
    before = viewer.get("/code/src/money.py?ref=HEAD~1").text
    assert "round(" not in before.replace("</i>", "") and "at HEAD~1" in before
    assert viewer.get("/code/src/nothing.py").status == 404
    assert viewer.get("/code/src/money.py?from=x").status == 400


def test_a_saved_pack_tells_what_became_of_each_citation_and_is_refreshed(root: Path, tmp_path: Path) -> None:
    copy = make_tree(tmp_path / "shop", SHOP)
    saved = tmp_path / "pack.md"
    saved.write_bytes(run_cli("pack", "basket total price", "--format", "markdown", "-s", copy).stdout)
    (copy / "src/basket.py").write_text("class Other:\n    pass\n")
    with viewing(copy, str(saved)) as viewer:
        viewer.sign_in()
        page = viewer.get("/pack/opened").text
        assert "st-true" in page and ("st-changed" in page or "st-gone" in page) and "Refresh" in page
        fresh = viewer.get("/pack/opened?refresh=1").text
        assert "st-changed" not in fresh and "Refresh the pack" not in fresh


def test_quality_shows_kept_runs_and_the_difference_of_two(root: Path, tmp_path: Path) -> None:
    copy = make_tree(tmp_path / "shop", SHOP)
    rows = Path(__file__).parent.parent / "evaluation" / "shop.jsonl"
    for name in ("before", "after"):
        assert run_cli("eval", rows, "--keep", name, "-s", copy).returncode == 0
    with viewing(copy) as viewer:
        viewer.sign_in()
        page = viewer.get("/quality?run=after&against=before").text
        assert (
            "Worst questions first" in page and "no difference" in page and "how is the total price" in page
        )
    assert run_cli("status", "--skipped", "-s", copy).stdout.count(b"_ctx/evals") == 1  # ours, not indexed


def test_status_tells_places_of_secrets_and_no_values(viewer: Viewer) -> None:
    page = viewer.get("/status").text
    assert "src/keys.py" in page and "ghp_" not in page
    assert "fresh" in page and "claude-code" in page and "Agent clients" in page


def test_an_exported_file_stands_alone_and_is_the_same_again(root: Path, tmp_path: Path) -> None:
    for number, words in enumerate((["basket total price"], ["--diff", "HEAD~1..HEAD"])):
        files = [tmp_path / f"{number}-{turn}.html" for turn in (1, 2)]
        for file in files:
            done = run_cli("view", *words, "--html", file, "-s", root)
            assert done.returncode == 0, done.stderr
        first, second = (file.read_bytes() for file in files)
        found = inventory(first.decode())
        assert first == second and found.scripts == [] and found.attributes == [] and "link" not in found.tags
        assert b"src/money.py" in first and all(address.startswith("#") for address in found.loaded)
        reason = generated_reason("x.html", first.decode(), "html")
        assert reason is not None, "an index that holds the page would cite it instead of the code"
    assert b'class="added"' in first and str(root).encode() not in first


def test_an_evaluation_is_exported_and_nothing_asked_is_an_error(root: Path, tmp_path: Path) -> None:
    rows = Path(__file__).parent.parent / "evaluation" / "shop.jsonl"
    saved, target = tmp_path / "run.json", tmp_path / "run.html"
    assert run_cli("eval", rows, "--save", saved, "-s", root).returncode == 0
    assert run_cli("view", "--eval", saved, "--html", target, "-s", root).returncode == 0
    assert "Worst questions first" in target.read_text()
    done = run_cli("view", "--html", target, "-s", root)
    assert done.returncode == 2 and b"nothing to write" in done.stderr
    assert run_cli("view", "--diff", "nowhere..HEAD", "--html", target, "-s", root).returncode == 3


def test_a_missing_extra_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda module: module != "jinja2")
    with pytest.raises(Unsupported, match="jinja2") as refused:
        extras.require("http", "satchel view")
    assert "satchel-context[http]" in refused.value.hint


def test_every_group_of_signals_has_a_colour_and_a_library_tells_where_runs_are(
    viewer: Viewer, root: Path, tmp_path: Path
) -> None:
    style = viewer.get("/assets/viewer.css").text
    assert [
        name for name in plugins.names("signal") if f".g-{name} " not in style and f".g-{name}," not in style
    ] == []
    library = Library.open(str(tmp_path / "books"))
    library.catalogue.create()
    library.add(str(root))
    with serving(None, "--library", str(library.folder), "--workers", "1") as server:
        page = Viewer(server.url).get("/quality")
        assert page.status == 200 and "beside the index of one repository" in page.text


def test_the_assets_are_small_and_kept_by_the_browser(viewer: Viewer) -> None:
    assert sum(len(templating.asset(name)) for name in templating.ASSETS) < 150_000
    page = viewer.get(templating.asset_url("viewer.css"))
    assert (
        page.headers["content-type"].startswith("text/css") and "immutable" in page.headers["cache-control"]
    )
    assert viewer.get("/assets/../routes.py").status == 404 and viewer.get("/assets/x").status == 404


def test_areas_of_a_treemap_are_sizes_and_boxes_do_not_overlap() -> None:
    sizes = [60.0, 30.0, 25.0, 10.0, 8.0, 4.0, 2.0, 1.0, 0.0]
    placed = lay_out([(size, size) for size in sizes], Box(0, 0, 200, 70))
    assert [one.thing for one in placed] == sizes[:-1]
    for one in placed:
        assert one.box.width * one.box.height == pytest.approx(one.thing * 100)
        assert (
            one.box.x >= 0 and one.box.x + one.box.width <= 200.001 and one.box.y + one.box.height <= 70.001
        )
    for at, one in enumerate(placed):
        for other in placed[at + 1 :]:
            wide = min(one.box.x + one.box.width, other.box.x + other.box.width) - max(one.box.x, other.box.x)
            high = min(one.box.y + one.box.height, other.box.y + other.box.height) - max(
                one.box.y, other.box.y
            )
            assert wide < 1e-6 or high < 1e-6


def test_a_library_is_viewed_without_a_token(tmp_path: Path) -> None:
    library = Library.open(str(tmp_path / "books"))
    library.catalogue.create()
    for name in ("shop", "till"):
        library.add(str(make_tree(tmp_path / name, SHOP)))
    TokenBook(library.catalogue).create("somebody", Grant((), ("web",)))
    with viewing(None, "--library", str(library.folder)) as found:
        found.sign_in()
        shown = found.get("/code/").text
        assert "shop/" in shown and "till/" in shown
    done = run_cli("view", "basket", "--library", library.folder, "--html", tmp_path / "x.html")
    assert done.returncode == 2 and b"--segment" in done.stderr


def test_a_label_of_a_folder_stays_inside_of_its_box() -> None:
    box = Box(0, 0, 70, 40)
    assert map_page._label("benchmark", box, is_folder=False) == "benchmark"
    assert map_page._label("benchmark", box, is_folder=True) == "benchma…"
    assert map_page._label("tcpclient.py", Box(0, 0, 82, 40), is_folder=False) == "tcpclient…"
    assert map_page._label("CHANGELOG.md", Box(0, 0, 85, 40), is_folder=False) == "CHANGELO…"
