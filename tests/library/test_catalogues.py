"""What every kind of catalogue promises, in a folder and in PostgreSQL."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from builders import git_repo, run_cli
from msgspec.structs import replace
from postgres_server import PostgresServer, shared_server

from satchel.errors import InvalidRequest, ProjectNotFound, Unsupported
from satchel.library.catalogue import Catalogue, Repository, RepositoryState, Token
from satchel.library.catalogues import open_catalogue
from satchel.library.grants import Grant

TILL = {
    "till.py": "def open_drawer():\n    return 'open'\n",
    "morning.py": "from till import open_drawer\n\n\ndef begin():\n    return open_drawer()\n",
}
WRITERS = 4


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    where = tmp_path / "books"
    return str(where) if request.param == "sqlite" else shared_server().place(where)


@pytest.fixture
def catalogue(place: str) -> Catalogue:
    made = open_catalogue(place)
    assert made.create() and not made.create()
    return made


def repository(name: str, **fields: object) -> Repository:
    return replace(Repository(name=name, origin=f"/there/{name}", refs=("main",)), **fields)


def test_nothing_is_there_before_it_is_made(place: str) -> None:
    found = open_catalogue(place)
    assert found.stamp() is None
    for ask in (found.all, found.tokens, lambda: found.store, lambda: found.add(repository("shop"))):
        with pytest.raises(ProjectNotFound, match="holds no library"):
            ask()


def test_repositories_are_kept_as_they_were_written(catalogue: Catalogue, place: str) -> None:
    shop = repository("shop", groups=("web", "core"), store="postgresql://elsewhere/db")
    assert catalogue.add(repository("till")) and catalogue.add(shop)
    assert not catalogue.add(repository("SHOP"))
    assert open_catalogue(place).all() == catalogue.all() == [shop, repository("till")]
    catalogue.drop("shop")
    assert catalogue.all() == [repository("till")]
    assert catalogue.add(repository("shop")) and catalogue.all()[0].store == ""


def test_the_end_of_a_sync_is_noted_where_the_repository_still_is(catalogue: Catalogue) -> None:
    catalogue.add(repository("shop", groups=("web",)))
    done = {"state": RepositoryState.READY, "commits": {"main": "a" * 40}, "problem": ""}
    catalogue.note_sync(repository("shop", **done))
    assert catalogue.all() == [repository("shop", groups=("web",), **done)]
    catalogue.drop("shop")
    catalogue.note_sync(repository("shop", **done))
    assert catalogue.all() == []


def test_every_change_of_a_repository_moves_the_stamp(catalogue: Catalogue, place: str) -> None:
    steps: tuple[Callable[[], object], ...] = (
        lambda: catalogue.add(repository("shop")),
        lambda: catalogue.note_sync(repository("shop", state=RepositoryState.READY)),
        lambda: catalogue.drop("shop"),
    )
    stamps = [open_catalogue(place).stamp()]
    for step in steps:
        step()
        stamps.append(open_catalogue(place).stamp())
        assert stamps[-1] == catalogue.stamp()
    assert len(set(stamps)) == len(stamps) and None not in stamps


def test_the_store_is_kept_without_a_password(place: str) -> None:
    made = open_catalogue(place)
    with pytest.raises(InvalidRequest, match="password"):
        made.create("postgresql://me:secret@host/db")
    made.create("postgresql://me@host/db")
    assert open_catalogue(place).store == "postgresql://me@host/db"


def test_tokens_are_found_until_they_are_revoked(catalogue: Catalogue, place: str) -> None:
    token = Token(name="ci", grant=Grant(("shop*",), ("web",)), created=12.5, expires=99.25)
    assert catalogue.add_token(token, "hash of ci")
    assert not catalogue.add_token(replace(token, name="CI"), "another")
    other = open_catalogue(place)
    assert other.tokens() == [token] and other.token_by_hash("hash of ci") == token
    assert other.token_by_name("Ci") == (token, "hash of ci")
    assert other.token_by_hash("another") is None and other.token_by_name("none") is None
    catalogue.note_token_use("ci", 40.0)
    catalogue.revoke_token("CI", 50.0)
    catalogue.revoke_token("ci", 60.0)
    assert other.tokens() == [replace(token, last_used=40.0, revoked=50.0)]


def add_many(place: str, number: int) -> int:
    catalogue = open_catalogue(place)
    return sum(catalogue.add(repository(f"r{at}", origin=f"/by/{number}")) for at in range(10))


def test_of_many_who_add_one_name_one_succeeds(catalogue: Catalogue, place: str) -> None:
    with multiprocessing.get_context("spawn").Pool(WRITERS) as pool:
        added = pool.starmap(add_many, [(place, number) for number in range(WRITERS)])
    assert sum(added) == 10 == len(catalogue.all())
    with ThreadPoolExecutor(WRITERS) as threads:
        again = list(threads.map(add_many, [place] * WRITERS, range(WRITERS)))
    assert sum(again) == 0


def test_an_unknown_scheme_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("mysql://host/db", "oracle:books", "memory:"):
        with pytest.raises(Unsupported, match="no catalogue has the scheme"):
            open_catalogue(wrong)
        done = run_cli("library", "init", "--library", wrong, "--json", cwd=tmp_path)
        assert done.returncode and json.loads(done.stdout)["error"]["code"] == "unsupported"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def server() -> PostgresServer:
    return shared_server()


def test_libraries_of_one_database_are_apart(server: PostgresServer, tmp_path: Path) -> None:
    one, other = (open_catalogue(server.place(tmp_path / name)) for name in ("one", "other"))
    assert one.create() and other.create() and one.folder != other.folder
    one.add(repository("shop"))
    one.add_token(Token(name="ci", grant=Grant(), created=1.0), "hash")
    assert other.all() == [] and other.tokens() == [] and one.folder.name == "one"


def test_a_machine_that_has_nothing_answers_from_the_database(server: PostgresServer, tmp_path: Path) -> None:
    origin = git_repo(tmp_path / "till", TILL)
    place = server.place(tmp_path / "books")
    here = {"XDG_DATA_HOME": str(tmp_path / "here")}
    for words in (("init",), ("add", origin.as_uri(), "--group", "net"), ("sync",)):
        done = run_cli("library", *words, "--library", place, environment=here)
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "here" / "satchel" / "libraries").glob("*/books/mirrors/till"))
    questions = (
        ("search", "open drawer"),
        ("pack", "how does the till open"),
        ("get", "till/till.py:1:1"),
        ("symbols", "open_drawer"),
        ("refs", "open_drawer"),
        ("map",),
        ("grep", "drawer"),
        ("impact", "open_drawer"),
        ("stats",),
        ("prompt",),
    )
    for words in questions:
        answers = [
            run_cli(*words, f"--library={place}", environment={"XDG_DATA_HOME": str(tmp_path / name)})
            for name in ("here", "elsewhere")
        ]
        assert answers[0].returncode == answers[1].returncode == 0, (words, answers[1].stderr)
        assert answers[0].stdout == answers[1].stdout and answers[0].stdout, words
