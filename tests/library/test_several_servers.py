"""A library whose repositories lie on several PostgreSQL servers answers as one on a single server, and says
which repositories are missing while one of the servers is stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import SHOP, git_repo, run_cli
from postgres_server import PostgresServer, shared_server

from satchel.errors import InvalidRequest, StoreUnreachable
from satchel.library.library import Library

TILL = {"till.py": "class Till:\n    def open_till(self):\n        return 'till is open'\n"}
BANK = {
    "bank.py": "from money import add_money\n\n\ndef pay(till):\n    return add_money(till.open_till())\n"
}
CALLS = (
    ("search", "how is the till opened"),
    ("pack", "where is the basket of the till"),
    ("refs", "open_till"),
    ("map",),
    ("grep", "till"),
)


@pytest.fixture(scope="module")
def servers() -> Iterator[list[PostgresServer]]:
    found = [shared_server()]
    found += [found[0].another() for _ in range(2)]
    yield found
    for server in found[1:]:
        server.stop()


@pytest.fixture(scope="module")
def libraries(servers: list[PostgresServer], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same three repositories in a folder, and on a server each."""
    folder = tmp_path_factory.mktemp("servers")
    made: dict[str, Path] = {}
    contents = {"shop": SHOP, "till": TILL, "bank": BANK}
    roots = [git_repo(folder / name, files) for name, files in contents.items()]
    for kind in ("folder", "spread"):
        library = Library.open(str(folder / kind / "library"))
        library.catalogue.create()
        for root, server in zip(roots, servers, strict=True):
            library.add(str(root), refs=["main"], store=server.place(folder) if kind == "spread" else "")
        assert [result.problem for result in library.sync()] == [""] * 3
        made[kind] = library.folder
    return made


def test_the_answers_are_those_of_one_folder(
    servers: list[PostgresServer], libraries: dict[str, Path]
) -> None:
    counts = [
        server.ask("SELECT count(*) FROM satchel.segments WHERE home LIKE '%/main'") for server in servers
    ]
    assert all(counts), counts
    for words in CALLS:
        answers = [run_cli(*words, f"--library={folder}").stdout for folder in libraries.values()]
        assert answers[0] == answers[1] and answers[0], words


def test_a_stopped_server_is_told_with_its_repositories(
    servers: list[PostgresServer], libraries: dict[str, Path]
) -> None:
    library = Library.open(libraries["spread"])
    whole = ("search", "how is the till opened", f"--library={libraries['spread']}", "--json")
    with library.engine() as engine, library.engine(allow_partial=True) as partial:
        expected = engine.search("basket total")[0]
        servers[1].kill()
        with pytest.raises(StoreUnreachable, match="till cannot be asked") as raised:
            engine.search("basket total")
        assert raised.value.details == {"repositories": ["till"]}
        refused = run_cli(*whole)
        assert refused.returncode == 6 and b"store_unreachable" in refused.stdout
        found = run_cli(*whole, "--allow-partial")
        assert found.returncode == 0 and b"till is left out" in found.stderr
        paths = {hit["path"] for hit in json.loads(found.stdout)["hits"]}
        assert paths and not any(path.startswith("till/") for path in paths)
        assert partial.search("basket total")[0] and any("till is left out" in note for note in partial.notes)
        servers[1].start()
        assert engine.search("basket total")[0] == expected
        assert partial.search("basket total")[0] == expected


def test_the_store_of_a_repository_is_kept_and_forgotten(tmp_path: Path) -> None:
    library = Library.open(str(tmp_path / "library"))
    library.catalogue.create()
    root = git_repo(tmp_path / "till", TILL)
    with pytest.raises(InvalidRequest, match="password"):
        library.add(str(root), refs=["main"], store="postgresql://me:secret@host/base")
    with pytest.raises(InvalidRequest, match="its own index"):
        library.add(str(root), store="postgresql://host/base")
    library.add(str(root), refs=["main"], store=str(tmp_path / "elsewhere"))
    assert [one.store for one in library.repositories()] == [str(tmp_path / "elsewhere")]
    assert [result.state.value for result in library.sync()] == ["ready"]
    assert list((tmp_path / "elsewhere").rglob("context.db")) and not (library.folder / "indexes").exists()
    assert [one.store for one in library.export().repositories] == [""]
    library.remove(["till"])
    library.add(str(root), refs=["main"])
    assert [one.store for one in library.repositories()] == [""]
