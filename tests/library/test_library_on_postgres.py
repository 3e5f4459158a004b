"""A library whose indexes are in PostgreSQL gives the same bytes as one in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, git, git_repo, make_tree, run_cli
from postgres_server import PostgresServer, shared_server

from satchel.library.library import Library

QUESTIONS = ("basket total", "how is the till opened", "parse the settings", "where are sessions stored")
TILL = {
    "till.py": "class Till:\n    def open_till(self):\n        return 'till is open'\n",
    "README.md": "# Till\n\nOpens the till.\n",
    "vendored/basket.py": SHOP["src/basket.py"],
}


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    return shared_server()


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("repositories")
    return [git_repo(folder / "shop", SHOP), git_repo(folder / "till", TILL)]


def made(folder: Path, repositories: list[Path], store: str) -> Library:
    library = Library.open(str(folder))
    library.catalogue.create(store)
    for repository in repositories:
        library.add(str(repository), refs=["main"])
    assert [result.problem for result in library.sync()] == ["", ""]
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
