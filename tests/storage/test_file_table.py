"""The packed rows of files say what the rows say, after every kind of change, and damage of them is noticed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from builders import packed
from msgspec.structs import replace

from satchel.errors import IndexCorrupt
from satchel.storage.file_table import FILES_PER_BLOCK, PackedFiles
from satchel.storage.records import FileRecord
from satchel.storage.sqlite import SqliteStore
from satchel.types import FileEntry

COUNT = 2 * FILES_PER_BLOCK + 10


def put(store: SqliteStore, *records: FileRecord) -> None:
    with store.write() as writer:
        for record in records:
            writer.put_file(record, packed(record.path, "x = 1\n")[1])


def made(path: str) -> FileRecord:
    tags = ("test", "example") if path.endswith("7.py") else ()
    return replace(packed(path, "x = 1\n")[0], tags=tags, redactions=(3,) if path.endswith("1.py") else ())


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    found = SqliteStore(tmp_path / "context.db")
    names = [f"{number % 7}/f{number}.py" for number in range(COUNT)]
    random.Random(1).shuffle(names)
    put(found, *map(made, names))
    return found


def agrees(store: SqliteStore) -> list[FileRecord]:
    """Return the files of a store, whose rows were found to say the same as the packed ones."""
    with closing(store.snapshot()) as snapshot:
        table = snapshot.files()
        assert isinstance(table, PackedFiles)
        packed_rows = list(table)
        with store.write() as writer:  # a writer reads the rows themselves
            rows = list(writer.snapshot.files())
        assert packed_rows == rows == table
        assert [snapshot.file(record.path) for record in rows[:20]] == rows[:20]
        assert table[-3:] == rows[-3:]
        return rows


def test_packed_rows_are_those_of_the_files_after_every_change(store: SqliteStore) -> None:
    assert len(agrees(store)) == COUNT
    changed = agrees(store)[5]
    put(store, replace(changed, size=77), made("new/file.py"))
    found = {record.path: record for record in agrees(store)}
    assert len(found) == COUNT + 1 and found[changed.path].size == 77
    with store.write() as writer:
        writer.drop_file("new/file.py")
        writer.touch_file(FileEntry(changed.path, 77, 99, 98, 97), settled=False)
    found = {record.path: record for record in agrees(store)}
    assert "new/file.py" not in found and found[changed.path].stamp == (77, 99, 98, 97)
    assert not found[changed.path].settled
    with store.write() as writer:
        writer.clear()
    assert agrees(store) == []


def test_a_block_without_files_is_gone(store: SqliteStore) -> None:
    with closing(store.snapshot()) as snapshot:
        table = snapshot.files()
        assert isinstance(table, PackedFiles)
        numbers = table.position_of_number
        first = [table[at].path for number, at in numbers.items() if number < FILES_PER_BLOCK]
    with store.write() as writer:
        for path in first:
            writer.drop_file(path)
    assert len(agrees(store)) == COUNT - len(first)
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT min(number) FROM file_blocks").fetchone() == (1,)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE file_blocks SET data = substr(data, 1, 900) || x'00' || substr(data, 902) WHERE number = 1",
        "UPDATE file_blocks SET data = (SELECT data FROM file_blocks WHERE number = 0) WHERE number = 1",
        "DELETE FROM file_blocks WHERE number = 1",
    ],
)
def test_damage_of_a_block_is_noticed(store: SqliteStore, damage: str) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute(damage)
        connection.commit()
    with closing(store.snapshot()) as snapshot, pytest.raises(IndexCorrupt):
        snapshot.files()


def test_a_damaged_row_is_not_packed(store: SqliteStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("UPDATE files SET size = size + 1 WHERE number = 3")
        connection.commit()
    with pytest.raises(IndexCorrupt):
        put(store, *file_of_number(store, 4))


def file_of_number(store: SqliteStore, number: int) -> list[FileRecord]:
    """Return the file of a number, whose block is packed anew when it is put again."""
    with closing(store.snapshot()) as snapshot:
        table = snapshot.files()
        assert isinstance(table, PackedFiles)
        return [table[table.position_of_number[number]]]


def test_records_of_unchanged_files_are_taken_over(store: SqliteStore) -> None:
    with closing(store.snapshot()) as before:
        known = before.files()
        list(known)  # every record is made
        changed, gone = known[3].path, known[7].path
        with store.write() as writer:
            writer.put_file(*packed(changed, "y = 2\n"))
            writer.drop_file(gone)
        with closing(store.snapshot()) as after:
            files = after.files(known)
            old = {record.path: record for record in known}
            assert list(files) == list(after.files())
            assert {record.path for record in files if record is not old[record.path]} == {changed}
