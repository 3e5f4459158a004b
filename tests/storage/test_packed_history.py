"""The past as a store keeps it: what was put comes out, on every store, and no message is kept."""

from __future__ import annotations

import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.errors import IndexCorrupt
from satchel.storage import history
from satchel.storage.history import arrange, join_histories, pack_history, unpack_history
from satchel.storage.memory import MemoryStore
from satchel.storage.protocol import Store
from satchel.storage.records import HistoryCommit
from satchel.storage.sqlite import SqliteStore
from satchel.terms import terms

PAST = [
    HistoryCommit(2, "Mend the basket, the basket", ("a.py", "b.py")),
    HistoryCommit(1, "Open the till", ("b.py",)),
]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "_ctx" / "context.db")


def kept(store: Store) -> bytes:
    with closing(store.snapshot()) as snapshot:
        return snapshot.history()


def test_a_store_keeps_one_history_and_the_last_one_stands(store: Store) -> None:
    for data in (b"", b"one", b"two", b""):
        with store.write() as writer:
            writer.put_history(data)
            assert writer.snapshot.history() == data
        assert kept(store) == data


def test_a_history_stays_until_it_is_replaced_or_all_is_cleared(store: Store) -> None:
    with store.write() as writer:
        writer.put_history(b"past")
    with store.write() as writer:
        writer.set_meta({"other": "thing"})
    assert kept(store) == b"past"
    with store.write() as writer:
        writer.clear()
    assert kept(store) == b""


def test_an_undone_transaction_leaves_the_history(store: Store) -> None:
    with store.write() as writer:
        writer.put_history(b"past")
    with pytest.raises(ZeroDivisionError), store.write() as writer:
        writer.put_history(b"other")
        raise ZeroDivisionError
    assert kept(store) == b"past"


def test_no_history_is_no_bytes() -> None:
    assert pack_history([]) == b"" and unpack_history(b"").paths == ()


def test_neither_messages_nor_times_are_kept() -> None:
    plain = zlib.decompress(pack_history(PAST))
    assert b"Mend" not in plain and b"the basket" not in plain
    assert pack_history(PAST) == pack_history([msgspec.structs.replace(commit, seconds=9) for commit in PAST])


def test_bytes_that_are_no_history_are_a_typed_error() -> None:
    for broken in (b"no", zlib.compress(b"\xc1"), pack_history(PAST)[:-9]):
        with pytest.raises(IndexCorrupt):
            unpack_history(broken)


MESSAGES = st.text("abAB _.é日\n", max_size=40)
COMMITS = st.lists(
    st.builds(
        HistoryCommit,
        st.just(0),
        MESSAGES,
        st.lists(st.sampled_from("wxyz"), min_size=1, unique=True).map(tuple),
    ),
    max_size=8,
)


@given(COMMITS)
def test_every_term_and_path_of_every_commit_comes_out_again(commits: list[HistoryCommit]) -> None:
    found = unpack_history(pack_history(commits))
    assert found == (arrange(commits) if commits else found)
    for term in {term for commit in commits for term in terms(commit.message)} | {"missing"}:
        places, often = found.postings(term)
        counts = [Counter(terms(commit.message))[term] for commit in commits]
        assert dict(zip(places.tolist(), often.tolist(), strict=True)) == {
            place: count for place, count in enumerate(counts) if count
        }
    places = np.frombuffer(found.path_places, "<u4").tolist()
    assert [found.paths[place] for place in places] == [path for commit in commits for path in commit.paths]
    assert np.frombuffer(found.path_counts, "<u4").tolist() == [len(commit.paths) for commit in commits]


def test_a_term_is_counted_up_to_what_a_byte_holds() -> None:
    found = arrange([HistoryCommit(0, "till " * 300, ("a",))])
    assert found.postings("till")[1].tolist() == [255]


@given(st.lists(COMMITS, min_size=1, max_size=4), st.integers(0, 20))
def test_joined_histories_are_those_of_commits_that_stand_together_by_their_age(
    histories: list[list[HistoryCommit]], most: int
) -> None:
    """Of more commits than there is room for, the newest of every repository stand in it."""
    parts = [(f"{n}/", arrange(commits)) for n, commits in enumerate(histories)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "_MOST_COMMITS", most)
        joined = join_histories(parts)
    aged = sorted(
        (age, n, msgspec.structs.replace(commit, paths=tuple(f"{n}/{path}" for path in commit.paths)))
        for n, commits in enumerate(histories)
        for age, commit in enumerate(commits)
    )
    ages = np.array([age for age, _, _ in aged[:most]], "<u4").tobytes()
    expected = msgspec.structs.replace(arrange([commit for _, _, commit in aged[:most]]), ages=ages)
    assert joined == expected
