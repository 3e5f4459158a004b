"""A library whose indexes are in PostgreSQL gives the same bytes as one in a folder."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from builders import SHOP, dump_tables, git, git_repo, make_tree, run_cli
from postgres_server import PostgresServer, shared_server

from satchel import storage
from satchel.library.library import Library

QUESTIONS = ("basket total", "how is the till opened", "parse the settings", "where are sessions stored")
TILL = {
    "till.py": "class Till:\n    def open_till(self):\n        return 'till is open'\n",
    "README.md": "# Till\n\nOpens the till.\n",
    "copied/basket.py": SHOP["src/basket.py"],
}


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    return shared_server()


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("repositories")
    return [git_repo(folder / "shop", SHOP), git_repo(folder / "till", TILL)]


def made(folder: Path, repositories: list[Path], store: str, known: int | None = None) -> Library:
    """A library of two repositories, of which so many files need not be parsed, if that is told."""
    library = Library.open(str(folder))
    library.catalogue.create(store)
    for repository in repositories:
        library.add(str(repository), refs=["main"])
    results = list(library.sync())
    assert [result.problem for result in results] == ["", ""]
    assert known is None or sum(result.known for result in results) == known
    return library


def test_the_answers_are_those_of_a_library_in_a_folder(
    server: PostgresServer, repositories: list[Path], tmp_path: Path
) -> None:
    for name, store in (("folder", ""), ("postgres", server.place(tmp_path))):
        made(tmp_path / name, repositories, store)
    for words in (
        *(("search", question) for question in QUESTIONS),
        *(("pack", question) for question in QUESTIONS),
        ("refs", "open_till"),
        ("map",),
        ("grep", "till"),
    ):
        answers = [
            run_cli(*words, f"--library={tmp_path / name}").stdout.replace(name.encode(), b"NAME")
            for name in ("folder", "postgres")
        ]
        assert answers[0] == answers[1] and answers[0], words


def test_a_sync_reuses_what_another_repository_has_and_readers_share_one_transaction(
    server: PostgresServer, repositories: list[Path], tmp_path: Path
) -> None:
    library = made(tmp_path / "library", repositories, server.place(tmp_path))
    with library.engine() as engine:
        assert engine.search("till is open")[0][0].path.endswith("till.py")
        make_tree(repositories[1], {"new.py": "def sell_unicorns():\n    pass\n"})
        git(repositories[1], "add", "-A")
        git(repositories[1], "commit", "-q", "-m", "unicorns")
        assert [result.parsed for result in library.sync(["till"])] == [1]
        assert engine.search("sell unicorns")[0][0].path.endswith("new.py")
        open_transactions = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        assert server.ask(open_transactions) <= 2  # the newest, and one that an old snapshot still has


def test_a_removed_repository_leaves_no_index_in_the_database(
    server: PostgresServer, repositories: list[Path], tmp_path: Path
) -> None:
    library = made(tmp_path / "library", repositories, server.place(tmp_path))
    own = f"SELECT count(*) FROM satchel.segments WHERE home LIKE '{str(tmp_path).strip('/')}/%'"
    assert server.ask(own) == 2
    git(repositories[1], "tag", "-f", "before", "HEAD")
    make_tree(repositories[1], {"later.py": "def open_later():\n    pass\n"})
    git(repositories[1], "add", "-A")
    git(repositories[1], "commit", "-q", "-m", "later")
    assert not any(result.problem for result in library.sync(["till"]))
    with library.engine() as engine, engine.at("till@before") as before:
        assert before.search("till is open")[0]
    assert server.ask(own) == 3  # one of another commit that was asked for
    library.remove(["till"])
    assert server.ask(own) == 1
    with library.engine() as engine:
        assert engine.search("basket")[0]


def test_content_that_another_repository_has_is_parsed_once(server: PostgresServer, tmp_path: Path) -> None:
    name = tmp_path.name.replace("-", "_")
    files = {
        f"src/{at}.py": f"import os\n\n\nclass Only{name}{at}:\n    x = os.sep\n\n    def act(self):\n        pass\n"
        for at in range(9)
    }
    original = git_repo(tmp_path / "original", files)
    fork = git_repo(
        tmp_path / "fork",
        {f"copied/{path}": text for path, text in files.items()} | {"own.md": f"# Own of {name}\n"},
    )
    library = made(tmp_path / "library", [original, fork], server.place(tmp_path), known=9)
    alone = made(tmp_path / "alone", [original, fork], "", known=0)
    stores = [
        storage.open_store(one._place(one.repositories(["fork"])[0], "main")) for one in (library, alone)
    ]
    with closing(stores[0].snapshot()) as shared, closing(stores[1].snapshot()) as own:
        assert dump_tables(shared) == dump_tables(own)
    with closing(stores[0].snapshot()) as snapshot:
        known = stores[0].known_parses(snapshot.meta()["signature"])
        assert known is not None
        record = snapshot.file("copied/src/3.py")
        assert record is not None
        names = [(record.file_hash, "python"), (record.file_hash, "ruby"), ("00" * 32, "python")]
        assert known(names) == {names[0]: snapshot.parsed(record.path)} and known([]) == {}
