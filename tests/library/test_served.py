"""A library over the Command API and in a server: one project, whatever the surface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import SHOP, age, make_tree

from satchel.library.library import Library
from satchel.serving.cli_flags import make_parser, read_request
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request, encode
from satchel.serving.verbs.serve import VERB as SERVE
from satchel.serving.worker_pool import WorkerPool

TILL = {
    "README.md": "# Till\n\nOpens in the morning.\n",
    "till.py": "def open_drawer():\n    return 'open'\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    found = Library.open(str(tmp_path / "books"))
    found.catalogue.create()
    for name, files in (("shop", SHOP), ("till", TILL)):
        found.add(str(age(make_tree(tmp_path / name, files))))
    return found


def ask(dispatcher: Dispatcher, action: str, **payload: Any) -> Any:
    return msgspec.json.decode(encode(dispatcher.answer(Request(action, payload))))


def test_a_library_of_this_machine_is_a_project(library: Library) -> None:
    found = ask(Dispatcher(), "search", project=f"library:{library.folder}", query="open_drawer", k=1)
    assert found["data"]["hits"][0]["path"] == "till/till.py"
    assert found["data"]["hits"][0]["ref"] == "till@worktree"
    state = found["meta"]["index_state"]
    assert not state["stale"] and state["project_watermark"]["repositories"] == 2
    missing = ask(Dispatcher(), "search", project=f"library:{library.folder}/none", query="x")
    assert missing["error"]["code"] == "project_not_found"


def test_a_served_library_is_one_project_and_follows_its_catalogue(library: Library, tmp_path: Path) -> None:
    served = Dispatcher(library=library)
    assert served.projects() == ["books"] and served.remote
    try:
        assert ask(served, "search", query="open_drawer", k=1)["data"]["hits"][0]["path"] == "till/till.py"
        make_tree(tmp_path / "till", {"till.py": "def open_both():\n    pass\n"})
        assert ask(served, "symbols", name="open_both", project="books")["data"]["symbols"]
        library.remove(["till"])
        assert ask(served, "symbols", name="open_both")["status"] == "error"
        assert ask(served, "index")["error"]["code"] == "invalid_request"
        assert (
            ask(served, "search", project=str(tmp_path / "shop"), query="x")["error"]["code"]
            == "project_not_found"
        )
    finally:
        served.close()


def test_workers_of_a_pool_serve_the_same_library(library: Library, tmp_path: Path) -> None:
    pool = WorkerPool([tmp_path / "shop"], 1, library=library)
    other = Dispatcher(**pool.settings())
    assert other.roots() == pool.roots() == [tmp_path / "shop", library.folder]
    found = ask(other, "search", project="books", query="open_drawer", k=1)
    assert found["data"]["hits"][0]["path"] == "till/till.py"
    other.close()


def test_serve_takes_a_library_with_and_without_its_folder() -> None:
    def request(*words: str) -> Any:
        return read_request(SERVE, make_parser(SERVE).parse_args([*words]), for_terminal=False)

    assert request("mcp").library is None
    assert request("mcp", "--library").library == ""
    assert request("http", "--library", "books").library == "books"
