"""Which indexes of refs are kept: the last used ones, and whatever is open."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from builders import clean_environment, git, git_repo, make_engine, packed

from satchel.storage.memory import MemoryStore
from satchel.storage.protocol import Store
from satchel.storage.ref_indexes import KEPT, RefIndexes, Sources
from satchel.storage.sqlite import SqliteStore
from satchel.types import FileEntry


@pytest.fixture
def indexes(tmp_path: Path) -> RefIndexes:
    return RefIndexes(SqliteStore(tmp_path / "context.db"))


def write(store: Store, text: str = "# A\n") -> None:
    with store.write() as writer:
        writer.put_file(*packed("a.md", text))
        writer.set_meta({"signature": "s"})


def use(indexes: RefIndexes, name: str, when: int) -> SqliteStore:
    store = indexes.store(name)
    assert isinstance(store, SqliteStore)
    if not store.exists():
        write(store)
    indexes.mark_used(name)
    os.utime(store.path, (when, when))
    return store


def kept(tmp_path: Path) -> set[str]:
    return {path.stem for path in (tmp_path / "refs").glob("*.db")}


def test_the_least_recently_used_goes_first(tmp_path: Path, indexes: RefIndexes) -> None:
    for number in range(KEPT):
        use(indexes, f"{number:x}", 100 + number)
    use(indexes, "0", 500)
    use(indexes, "new", 600)
    assert kept(tmp_path) == {"0", "2", "3", "4", "5", "new"}
    assert not list((tmp_path / "refs").glob("1*.db*"))


def test_an_index_that_is_open_is_never_removed(tmp_path: Path, indexes: RefIndexes) -> None:
    oldest = use(indexes, "oldest", 1)
    with closing(oldest.snapshot()) as snapshot:
        for number in range(KEPT + 2):
            use(indexes, f"{number:x}", 100 + number)
        assert "oldest" in kept(tmp_path) and snapshot.text("a.md") == "# A\n"
        with closing(oldest.snapshot()) as again:
            assert again.text("a.md") == "# A\n"
    use(indexes, "last", 900)
    assert "oldest" not in kept(tmp_path) and len(kept(tmp_path)) == KEPT


_HOLD = """
import sys
from pathlib import Path
from satchel.storage.sqlite import SqliteStore
snapshot = SqliteStore(Path(sys.argv[1])).snapshot()
print("open", flush=True)
sys.stdin.read()
"""


def test_an_index_that_another_process_has_open_is_not_removed(tmp_path: Path, indexes: RefIndexes) -> None:
    oldest = use(indexes, "oldest", 1)
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(oldest.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"open\n"
    for number in range(KEPT + 1):
        use(indexes, f"{number:x}", 100 + number)
    assert "oldest" in kept(tmp_path)
    holder.kill()
    holder.communicate()
    use(indexes, "last", 900)
    assert "oldest" not in kept(tmp_path)


def test_a_new_index_starts_from_the_one_that_is_most_like_it(indexes: RefIndexes) -> None:
    near, far = indexes.store("near"), indexes.store("far")
    write(near, "# Near\n")
    write(far, "# Far away\n")
    with closing(near.snapshot()) as snapshot:
        wanted = [FileEntry(item.path, item.size, item.mtime_ns) for item in snapshot.files()]
    store = indexes.store("new")
    with indexes.sources("new", "s", wanted) as found, store.write(found.seed) as writer:
        assert writer.snapshot.text("a.md") == "# Near\n"
    with closing(store.snapshot()) as new, closing(near.snapshot()) as old:
        assert new.version.partition(":")[0] != old.version.partition(":")[0]


def test_an_index_of_another_signature_is_no_source(indexes: RefIndexes) -> None:
    write(indexes.store("other"))
    with indexes.sources("new", "another", []) as found:
        assert found == Sources()


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, indexes: RefIndexes) -> None:
    write(indexes.store("seed"))
    store = indexes.store("new")
    with (
        pytest.raises(ValueError, match="stop"),
        indexes.sources("new", "s", []) as found,
        store.write(found.seed),
    ):
        assert found.seed is not None
        raise ValueError("stop")
    assert not [path for path in (tmp_path / "refs").iterdir() if path.name.startswith("new")]


def test_what_killed_writers_left_is_swept(tmp_path: Path, indexes: RefIndexes) -> None:
    use(indexes, "a", 1)
    for name in ("b.db.new", "b.db.new-wal", "b.db.unusable-1"):
        (tmp_path / "refs" / name).write_bytes(b"half")
    use(indexes, "c", 2)
    assert kept(tmp_path) == {"a", "c"} and not list((tmp_path / "refs").glob("b.db*"))


def test_what_another_process_is_writing_is_not_swept(tmp_path: Path, indexes: RefIndexes) -> None:
    writing = indexes.store("b")
    with writing.write() as writer:
        writer.put_file(*packed("a.md", "# A\n"))
        use(indexes, "c", 2)
        assert (tmp_path / "refs/b.db.new").exists()
    assert kept(tmp_path) == {"b", "c"}


def test_locks_stay_few_however_many_refs_were_asked_for(tmp_path: Path, indexes: RefIndexes) -> None:
    for number in range(40):
        use(indexes, f"{number * 7919:016x}"[::-1], number)
    assert len(list((tmp_path / "refs").glob("*.lock"))) <= 16


def test_a_file_that_is_no_database_is_removed_like_any_other(tmp_path: Path, indexes: RefIndexes) -> None:
    store = use(indexes, "broken", 1)
    store.path.write_bytes(b"no database at all" * 100)
    indexes.remove("broken")
    assert kept(tmp_path) == set()


def test_an_index_whose_removal_was_cut_short_can_be_used(indexes: RefIndexes) -> None:
    store = use(indexes, "a", 1)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with closing(store.snapshot()) as snapshot:
        assert snapshot.text("a.md") == "# A\n"
    write(store, "# B\n")
    with closing(store.snapshot()) as snapshot:
        assert snapshot.text("a.md") == "# B\n"


def test_in_memory_the_last_used_are_kept_too() -> None:
    indexes = RefIndexes(MemoryStore())
    first = indexes.store("first")
    write(first)
    for number in range(KEPT):
        write(indexes.store(str(number)))
        indexes.mark_used(str(number))
    assert indexes.store("0") is indexes.store("0") and indexes.store("first") is not first


def test_an_engine_keeps_answering_when_many_other_refs_are_asked_for(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "root", {"a.md": "# Zero\n"})
    for number in range(1, KEPT + 4):
        git_repo(root, {"a.md": f"# Number {number}\n"})
    with make_engine(root) as engine:
        oldest = engine.at(f"HEAD~{KEPT + 3}")
        others = [engine.at(f"HEAD~{number}").commit for number in range(KEPT + 3)]
        assert oldest.search("zero")[0] and len(set(others)) == KEPT + 3
    assert git(root, "status", "--short") == ""
