"""Tokens of a library: made once, kept as hashes, scoped, ended."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from builders import run_cli

from satchel.errors import InvalidRequest, ProjectNotFound
from satchel.library.catalogues import open_catalogue
from satchel.library.grants import Grant
from satchel.library.tokens import TokenBook, expiry


@pytest.fixture
def book(tmp_path: Path) -> TokenBook:
    catalogue = open_catalogue(tmp_path)
    catalogue.create()
    return TokenBook(catalogue)


def test_a_token_is_found_by_itself_and_kept_as_a_hash(book: TokenBook, tmp_path: Path) -> None:
    assert not book.is_used() and book.all() == []
    secret, made = book.create("ci", Grant(("shop*",), ("web",)))
    assert secret.startswith("satchel_") and len(secret) > 50
    assert book.find(secret) == made == book.all()[0] and book.is_used()
    assert secret.encode() not in (tmp_path / "catalogue.db").read_bytes()
    assert book.find(secret[:-1]) is None and book.find("") is None
    other, _ = book.create("other", Grant(("*",)))
    assert other != secret


def test_a_revoked_token_opens_nothing_and_stays_listed(book: TokenBook) -> None:
    secret, _ = book.create("ci", Grant(("*",)))
    assert [token.name for token in book.revoke(["CI"])] == ["ci"]
    assert book.find(secret) is None and book.named("ci") is None
    assert book.is_used() and book.all()[0].state(time.time()) == "revoked"
    with pytest.raises(ProjectNotFound, match="no token 'none'"):
        book.revoke(["none"])
    with pytest.raises(InvalidRequest, match="already"):
        book.create("ci", Grant(("*",)))


def test_an_expired_token_opens_nothing(book: TokenBook) -> None:
    secret, _ = book.create("ci", Grant(("*",)), time.time() + 0.2)
    assert book.find(secret) is not None
    time.sleep(0.25)
    assert book.find(secret) is None and book.all()[0].state(time.time()) == "expired"


def test_the_last_use_is_noted(book: TokenBook) -> None:
    book.create("ci", Grant(("*",)))
    assert book.all()[0].last_used is None
    book.note_use("ci")
    assert abs((book.all()[0].last_used or 0) - time.time()) < 30


@pytest.mark.parametrize("written", ["soon", "0d", "2020-01-01", "90", "2027-13-01"])
def test_an_end_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(InvalidRequest):
        expiry(written)


def test_an_end_is_days_or_the_last_day() -> None:
    assert expiry("") is None
    assert abs((expiry("2d") or 0) - time.time() - 2 * 86_400) < 30
    assert expiry("2999-01-31") == 32474822400.0  # the day is over, in UTC


@pytest.mark.parametrize(
    ("name", "grant"),
    [("", Grant()), ("a b", Grant()), ("../x", Grant()), ("x" * 101, Grant()), ("ok", Grant(()))],
)
def test_a_token_needs_a_name_and_something_to_see(book: TokenBook, name: str, grant: Grant) -> None:
    with pytest.raises(InvalidRequest):
        book.create(name, grant)


def test_the_command_line_makes_lists_and_revokes(tmp_path: Path) -> None:
    def library(*words: str) -> dict[str, object]:
        done = run_cli("library", *words, "--library", str(tmp_path / "books"), "--json")
        assert done.returncode == 0, done.stderr
        told: dict[str, object] = json.loads(done.stdout)
        return told

    library("init")
    (made,) = library("token", "create", "ci", "--repo", "shop*", "--group", "web", "--expires", "90d")[
        "tokens"
    ]  # type: ignore[misc]
    assert made["repositories"] == ["shop*"] and made["groups"] == ["web"] and made["state"] == "valid"
    (listed,) = library("token", "list")["tokens"]  # type: ignore[misc]
    assert "token" not in listed and {**listed, "token": made["token"]} == made
    (revoked,) = library("token", "revoke", "ci")["tokens"]  # type: ignore[misc]
    assert revoked["state"] == "revoked"
    assert made["token"].encode() not in (tmp_path / "books" / "catalogue.db").read_bytes()
