"""Packed columns give the records that they were made of."""

from __future__ import annotations

from pathlib import Path

from builders import packed
from msgspec.structs import replace

from satchel.storage.file_columns import FileColumns
from satchel.storage.file_table import PackedFiles
from satchel.storage.records import FileRecord
from satchel.storage.sqlite import SqliteStore

PATHS = ("a.py", "a/b.py", "a/ä.py", "b/𝔟.md", "b/c\nd.py", "z")


def made(number: int, path: str) -> FileRecord:
    return replace(
        packed(path, f"x = {number}\n")[0],
        tags=("test", "example") if number % 2 else (),
        redactions=(3, 70_000) if number == 1 else (),
        settled=number != 2,
        mtime_ns=-5 if number == 3 else 2**40 + number,
        inode=2**62,
        size=2**33 + number,
    )


def test_columns_of_records_give_these_records() -> None:
    records = [made(number, path) for number, path in enumerate(sorted(PATHS))]
    columns = FileColumns(records)
    assert [columns.record(at) for at in range(len(columns))] == records
    assert list(columns.paths()) == sorted(PATHS)
    assert [columns.find(path) for path in sorted(PATHS)] == list(range(len(PATHS)))
    assert [columns.find(path) for path in ("", "a", "a.pyi", "zz")] == [-1] * 4
    moved = columns.record(0, "shop/", 7, 9)
    assert (moved.path, moved.first_chunk, moved.first_unit) == ("shop/a.py", 7, 9)


def test_columns_of_a_packed_table_give_its_records(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "context.db")
    with store.write() as writer:
        for number, path in enumerate(PATHS):
            writer.put_file(made(number, path), packed(path, f"x = {number}\n")[1])
    snapshot = store.snapshot()
    files = snapshot.files()
    assert isinstance(files, PackedFiles)
    columns = FileColumns(files)
    assert [columns.record(at) for at in range(len(columns))] == list(files)
    snapshot.close()


def test_no_files_have_no_columns() -> None:
    columns = FileColumns([])
    assert len(columns) == 0 and columns.find("a") == -1 and list(columns.paths()) == []


def test_a_file_is_the_same_with_the_same_content_numbers_and_tags() -> None:
    one = made(1, "a.py")
    columns = FileColumns([one])
    others = (
        replace(one, mtime_ns=1),
        replace(one, file_hash="00" * 32),
        replace(one, tags=()),
        replace(one, first_chunk=5),
        replace(one, first_unit=5),
        replace(one, language="ruby"),
    )
    same = [columns.is_same(0, FileColumns([other]), 0) for other in others]
    assert same == [True, False, False, False, False, False]
