"""Every command gives the same answer whatever store its index is in."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, clean_environment, git, git_repo, make_tree, run_cli, with_plugged_stores
from postgres_server import store_place
from test_commands import ARGUMENTS

from satchel import Engine, plugins
from satchel.errors import Unsupported
from satchel.serving import cli
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request
from satchel.serving.watching.index_updater import IndexUpdater
from satchel.storage import open_store, scheme_of
from satchel.storage.memory import MemoryStore

# What is said of the index itself and of the moment; nothing else differs.
_OWN = re.compile(r'"(index|index_bytes|generation|\w+_ms)": ?("[^"]*"|[\d.]+)')
_MORE = {
    "pack of a commit": ("pack", "basket", "--ref", "HEAD~1"),
    "review": ("pack", "--diff", "HEAD~1..HEAD"),
}
_OF_THE_INDEX = ("index", "status")  # say whether there was one before, which in memory there never was
UNKNOWN = "mysql://user:secret@host/base"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = git_repo(tmp_path_factory.mktemp("work") / "shop", SHOP)
    make_tree(root, {"docs/guide.md": "# Guide\n\nHow the basket works.\n\n## Core rules\n\nPay last.\n"})
    git(root, "commit", "-q", "-a", "-m", "Other rules")
    return age(root)


@pytest.fixture(autouse=True)
def usual_collection() -> Iterator[None]:
    """The command line collects less often, for the rest of its process."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command line prints, in this process."""
    code = cli.main([*arguments])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


@pytest.fixture(scope="module")
def places(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A place for an index of the shop in each kind of store, with a built pack beside it."""
    folder = tmp_path_factory.mktemp("places")
    found = {store: store_place(store, folder / store) for store in plugins.names("store")}
    for place in found.values():
        assert cli.main(["build", "--segment", str(shop), "--index-dir", place]) == 0
    return found


@pytest.mark.parametrize("name", [*ARGUMENTS, *_MORE])
def test_a_command_answers_alike_from_every_store(
    shop: Path, places: dict[str, str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = _MORE.get(name) or (name, *ARGUMENTS[name])
    found: dict[str, Any] = {}
    for store, place in places.items():
        if name not in _OF_THE_INDEX or plugins.load("store", store).is_shared:
            shown = said(capsys, *words, "--segment", str(shop), "--index-dir", place, "--json")
            folder = str(open_store(place).scratch or shop / "_ctx")  # where a pack is built
            shown = shown.replace(folder, f"{shop}/_ctx")
            found[store] = json.loads(_OWN.sub(r'"\1": 0', shown))
    assert len(found) >= 2
    for store, answer in found.items():
        assert answer == found["sqlite"], store


def test_a_url_names_a_store_and_a_path_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(tmp_path / "x" / "context.db")
    assert open_store(tmp_path / "x").location == open_store(f"sqlite://{tmp_path}/x/").location == file
    assert open_store(f"sqlite://{file}").location == open_store(f"sqlite:{file}").location == file
    assert open_store("x").location == str(Path("x", "context.db"))
    assert open_store("SQLITE:x/").location == str(Path("x", "context.db"))
    assert isinstance(open_store("memory:"), MemoryStore)
    Path("here").mkdir()
    assert open_store("sqlite:here").location == str(Path("here", "context.db"))


@pytest.mark.parametrize(
    "place", ["C:\\indexes", "C:/indexes", "c:", "./odd:name", "/a:b/c", "//server/share"]
)
def test_a_drive_of_windows_or_a_colon_further_on_is_a_path(place: str) -> None:
    assert scheme_of(place).name == "sqlite" and open_store(place).location == str(Path(place, "context.db"))


@pytest.mark.parametrize("place", ["sqlite:", "sqlite://host/context.db"])
def test_a_url_that_names_no_file_is_refused(tmp_path: Path, place: str) -> None:
    done = run_cli("status", "--segment", tmp_path, "--index-dir", place, "--json")
    assert done.returncode == 6 and json.loads(done.stdout)["error"]["code"] == "config_error"


@pytest.mark.parametrize("place", [UNKNOWN, "records:x", "postings:x", "no-such+thing:x"])
def test_an_unknown_scheme_is_a_typed_error_that_names_the_known_ones(tmp_path: Path, place: str) -> None:
    with pytest.raises(Unsupported, match="scheme") as raised:
        Engine.open(tmp_path, index_dir=place)
    assert "sqlite" in raised.value.hint and "secret" not in str(raised.value.as_dict())


@pytest.mark.parametrize(
    "words",
    [
        ("search", "basket"),
        ("serve", "http", "--port", "0"),
        ("serve", "mcp"),
        ("watch",),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("by", ["flag", "environment"])
def test_an_unknown_scheme_makes_no_folder_on_any_surface(
    tmp_path: Path, words: tuple[str, ...], by: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "satchel", *words, *(("--index-dir", UNKNOWN) if by == "flag" else ())],
        cwd=tmp_path,
        env=clean_environment({"SATCHEL_HOME": UNKNOWN} if by == "environment" else None),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode != 0 and b"no store has the scheme 'mysql'" in done.stderr
    assert b"known: memory, postgres, sqlite" in done.stderr and b"secret" not in done.stderr + done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_environment_keeps_the_index_of_each_root_in_its_own_store(tmp_path: Path, shop: Path) -> None:
    environment = {"SATCHEL_HOME": f"toy:{tmp_path / 'home'}", **with_plugged_stores()}
    for root in (shop, make_tree(tmp_path / "other", SHOP)):
        done = run_cli("search", "basket", "--segment", root, environment=environment)
        assert done.returncode == 0 and b"src/basket.py" in done.stdout
    assert len(list((tmp_path / "home").glob("*/index.toy"))) == 2


def test_an_index_in_memory_is_served_by_one_process() -> None:
    done = run_cli("serve", "http", "--port", "0", "--index-dir", "memory:", "--workers", "2")
    assert done.returncode != 0 and b"leave out --workers" in done.stderr


@pytest.mark.parametrize(
    "store", [name for name in plugins.names("store") if plugins.load("store", name).is_shared]
)
def test_an_updater_keeps_the_index_of_any_store_fresh(tmp_path: Path, store: str) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    place = store_place(store, tmp_path / "index")
    updater = IndexUpdater(root, index_dir=place)
    updater.start()
    try:
        assert updater.wait_until_fresh(20_000) is not None
        make_tree(root, {"src/new.py": "def sell_unicorns():\n    pass\n"})
        assert updater.wait_until_fresh(20_000) is not None and updater.is_fresh
    finally:
        updater.stop()
    with Engine.open(root, index_dir=place) as engine:
        assert engine.search("sell unicorns")[0][0].path == "src/new.py"


@pytest.mark.parametrize("store", plugins.names("store"))
def test_a_server_answers_from_any_store(tmp_path: Path, store: str) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    with closing(Dispatcher([root], index_dir=store_place(store, tmp_path / "index"))) as dispatcher:
        dispatcher.start()
        for query in ("basket", "till"):
            response = dispatcher.answer(Request(action="search", payload={"query": query}))
            assert response.status == "ok", response


@pytest.mark.skipif(os.name == "nt", reason="two slashes name a host there")
@pytest.mark.parametrize("form", ["sqlite:///{}/index.db", "/{}", "sqlite://{}/index.db"])
def test_a_path_with_two_slashes_is_that_with_one(tmp_path: Path, form: str) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    kept = tmp_path / "kept"
    kept.mkdir()
    done = run_cli("search", "basket", "--json", "--segment", root, "--index-dir", form.format(kept))
    assert done.returncode == 0 and json.loads(done.stdout)["hits"], done.stderr
    assert list(kept.glob("*.db")) and not (root / "_ctx").exists()
