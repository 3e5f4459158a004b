"""The files of one generation as packed columns, from which a record is made when it is asked for.

Rows of all files cost a search more than its ranking: on the 78,000 files of Linux 6.1 their checks, tuples
and records take most of a second. So a writer also packs the rows into blocks, 256 consecutive file numbers
in each, and writes those blocks anew that a change touches.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import msgspec

from satchel.storage.checked_rows import CHECKS, file_record
from satchel.storage.records import FileRecord

FILES_PER_BLOCK = 256
_TEXTS = (6, 7, 9, 10)  # language, encoding, redactions, tags: files share most of their combinations
_PATH, _HASH = 2, 5
_WIDE = (1, 3, 4, 11, 14, 16, 17)  # number, size, times, inode, first chunk and unit: 8 bytes each
_NARROW = (0, 8, 12, 13, 15, *range(CHECKS, CHECKS + 5))  # checks, counts and the flag: 4 bytes each
_COLUMNS = {
    "number": 1,
    "size": 3,
    "mtime_ns": 4,
    "line_count": 8,
    "first_chunk": 11,
    "chunk_count": 12,
    "settled": 13,
    "first_unit": 14,
    "unit_count": 15,
    "ctime_ns": 16,
    "inode": 17,
}


class _Block(msgspec.Struct, frozen=True, array_like=True):
    """Some rows of the stored columns, column by column."""

    wide: bytes
    narrow: bytes
    hashes: list[bytes]
    paths: list[str]
    texts: list[tuple[str, str, str, str]]  # each once
    texts_of: bytes  # 2 bytes for each file


_DECODER = msgspec.msgpack.Decoder(_Block)


def pack_block(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows of the stored columns, at most those of one block, as bytes."""
    columns = list(zip(*rows, strict=True))
    combinations = list(zip(*(columns[at] for at in _TEXTS), strict=True))
    texts = {key: at for at, key in enumerate(dict.fromkeys(combinations))}
    block = _Block(
        b"".join(array("q", columns[at]).tobytes() for at in _WIDE),
        b"".join(array("I", columns[at]).tobytes() for at in _NARROW),
        list(columns[_HASH]),
        list(columns[_PATH]),
        list(texts),
        array("H", map(texts.__getitem__, combinations)).tobytes(),
    )
    return msgspec.msgpack.encode(block)


def _column(parts: Sequence[tuple[bytes, int]], place: int) -> bytes:
    """Return one column of all blocks, of which each gives its bytes and the length of its columns."""
    return b"".join(data[place * length : (place + 1) * length] for data, length in parts)


class IndexedFiles(Sequence[FileRecord]):
    """All files of a generation, by path, with their numbers and texts as columns."""

    texts: Sequence[tuple[str, str, str, str]]  # language, encoding, redactions and tags, each once

    @property
    @abstractmethod
    def position_of(self) -> Mapping[str, int]:
        """Return the position of each path."""

    @property
    @abstractmethod
    def order(self) -> Sequence[int] | None:
        """Return where each file is in the columns; None if they are in the order of the files."""

    @abstractmethod
    def column(self, name: str) -> Any:
        """Return a number of all files as a buffer, in the order of `order`."""

    @abstractmethod
    def texts_of(self) -> Any:
        """Return for each file the position of its texts in `texts` as a buffer, in the order of `order`."""

    @abstractmethod
    def record(self, at: int) -> FileRecord:
        """Return the record of the file at a position."""

    @abstractmethod
    def path(self, at: int) -> str:
        """Return the path of the file at a position."""

    def has_same(self, at: int, other: Sequence[FileRecord], there: int) -> bool:
        """Return whether a file has the same content, numbers and tags as one of another table."""
        return is_same_file(self.record(at), other[there])

    @overload
    def __getitem__(self, at: int) -> FileRecord: ...
    @overload
    def __getitem__(self, at: slice) -> list[FileRecord]: ...
    def __getitem__(self, at: int | slice) -> FileRecord | list[FileRecord]:
        if isinstance(at, slice):
            return [self.record(one) for one in range(*at.indices(len(self)))]
        return self.record(at)

    def __iter__(self) -> Iterator[FileRecord]:
        return map(self.record, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as that of a list


def is_same_file(one: FileRecord, other: FileRecord) -> bool:
    """Return whether two records are of the same content with the same numbers and tags."""
    return one is other or (
        (one.file_hash, one.language, one.first_chunk, one.first_unit, one.tags)
        == (other.file_hash, other.language, other.first_chunk, other.first_unit, other.tags)
    )


class PackedFiles(IndexedFiles):
    """All files of a generation as a store has packed them."""

    def __init__(self, blocks: Iterable[bytes], known: Sequence[FileRecord] = ()) -> None:
        """Make the table of packed blocks; raises MsgspecError or ValueError for bytes that are none. The
        records that a `known` table has made are taken over where their rows are as they were."""
        found = [_DECODER.decode(data) for data in blocks]
        self._paths = [path for block in found for path in block.paths]
        self._hashes = [one for block in found for one in block.hashes]
        wide = [(block.wide, 8 * len(block.paths)) for block in found]
        narrow = [(block.narrow, 4 * len(block.paths)) for block in found]
        self._wide = [memoryview(_column(wide, at)).cast("q") for at in range(len(_WIDE))]
        self._narrow = [memoryview(_column(narrow, at)).cast("I") for at in range(len(_NARROW))]
        self.texts: list[tuple[str, str, str, str]] = []  # language, encoding, redactions and tags
        self._texts_of: array[int] = array("I")
        for block in found:
            base = len(self.texts)
            self.texts += block.texts
            self._texts_of.extend(base + place for place in memoryview(block.texts_of).cast("H"))
        # Where each file is in the columns. They are almost in the order of paths, which a sort profits from.
        self._order = sorted(range(len(self._paths)), key=self._paths.__getitem__)
        self.paths = [self._paths[place] for place in self._order]
        self._records: dict[int, FileRecord] = {}
        if isinstance(known, PackedFiles):
            self._take_over(known)

    def _take_over(self, known: PackedFiles) -> None:
        """Take over the records of another table whose rows have the same checks and contents here."""
        for old, record in known._records.items():
            at = self.position_of.get(record.path)
            if at is not None:
                here, there = self.order[at], known.order[old]
                same_content = self._hashes[here] == known._hashes[there]
                if same_content and self._narrow[0][here] == known._narrow[0][there]:
                    self._records[at] = record

    @property
    def order(self) -> list[int]:
        return self._order

    @cached_property
    def hashes(self) -> list[bytes]:
        """Return the hash of each file."""
        return [self._hashes[place] for place in self._order]

    @cached_property
    def position_of(self) -> dict[str, int]:
        return {path: at for at, path in enumerate(self.paths)}

    @cached_property
    def position_of_number(self) -> dict[int, int]:
        """Return the position of each file by its number."""
        numbers = self._wide[0]
        return {numbers[place]: at for at, place in enumerate(self.order)}

    def check_sum(self) -> int:
        """Return the sum of the checks of all rows."""
        return sum(self._narrow[0])

    def column(self, name: str) -> memoryview[int]:
        number = _COLUMNS[name]
        return self._wide[_WIDE.index(number)] if number in _WIDE else self._narrow[_NARROW.index(number)]

    def texts_of(self) -> array[int]:
        return self._texts_of

    def number_and_check(self, at: int, which: int) -> tuple[int, int]:
        """Return the number of a file and one of the checks at the end of its row, counted from the end."""
        place = self.order[at]
        return self._wide[0][place], self._narrow[which][place]

    def row(self, at: int) -> tuple[Any, ...]:
        """Return the row of the stored columns of a file."""
        place = self.order[at]
        check, line_count, chunk_count, settled, unit_count, *checks = (
            column[place] for column in self._narrow
        )
        number, size, mtime, first_chunk, first_unit, ctime, inode = (column[place] for column in self._wide)
        language, encoding, redactions, tags = self.texts[self._texts_of[place]]
        return (
            *(check, number, self._paths[place], size, mtime, self._hashes[place], language, encoding),
            *(line_count, redactions, tags, first_chunk, chunk_count, settled, first_unit, unit_count),
            *(ctime, inode, *checks),
        )

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, at: int) -> str:
        return self.paths[at]

    def record(self, at: int) -> FileRecord:
        found = self._records.get(at)
        if found is None:
            found = self._records[at] = file_record(self.row(at))
        return found
