"""The files of one index as packed columns: 150 bytes for a file, where its record takes a kilobyte.

A library holds the files of hundreds of repositories, and an answer looks at a few hundred of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from satchel.storage.checked_rows import FILE_COLUMNS, file_record, file_row
from satchel.storage.file_table import PackedFiles
from satchel.storage.records import FileRecord

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_ROW = FILE_COLUMNS.split(", ")
_NUMBERS = (
    *("size", "mtime_ns", "line_count", "first_chunk", "chunk_count"),
    *("settled", "first_unit", "unit_count", "ctime_ns", "inode"),
)
_TEXTS = ("language", "encoding", "redactions", "tags")


def encode_path(path: str) -> bytes:
    """Return a path as bytes, which sort as paths do."""
    return path.encode("utf-8", "surrogatepass")


class JoinedValues:
    """Many short values, laid end to end."""

    def __init__(self, values: Sequence[bytes]) -> None:
        self._joined = b"".join(values)
        ends = np.cumsum([0, *map(len, values)]).astype(np.uint32)
        self._ends = memoryview(ends.tobytes()).cast("I")  # one of its numbers is read in half the time

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> bytes:
        return self._joined[self._ends[at] : self._ends[at + 1]]

    def __iter__(self) -> Iterator[bytes]:
        joined = self._joined
        return (joined[start:end] for start, end in pairwise(self._ends.tolist()))

    def find(self, value: bytes) -> int:
        """Return the position of a value, -1 if it is none of them. They have to be sorted."""
        at = bisect_left(range(len(self)), value, key=self.__getitem__)
        return at if at < len(self) and self[at] == value else -1


class FileColumns:
    """The files of one index, by path, of which a record is made when it is asked for."""

    def __init__(self, files: Sequence[FileRecord]) -> None:
        """Pack the records of a table, or of any other sequence."""
        if isinstance(files, PackedFiles):
            order = np.array(files.order, np.int64)
            numbers = {name: np.asarray(files.column(name))[order] for name in _NUMBERS}
            paths, hashes, self.texts = files.paths, files.hashes, files.texts
            texts_of = np.asarray(files.texts_of())[order]
        else:
            columns: dict[str, Any] = dict(zip(_ROW, zip(*map(file_row, files), strict=True), strict=False))
            numbers = {name: np.array(columns.get(name, ()), np.int64) for name in _NUMBERS}
            paths, hashes = columns.get("path", ()), columns.get("file_hash", ())
            combinations = list(zip(*(columns.get(name, ()) for name in _TEXTS), strict=True))
            places = {key: at for at, key in enumerate(dict.fromkeys(combinations))}
            self.texts = list(places)
            texts_of = np.fromiter(map(places.__getitem__, combinations), np.int64, len(combinations))
        self.numbers = {name: _narrow(column) for name, column in numbers.items()}
        self.texts_of = _narrow(texts_of)
        self._paths = JoinedValues([encode_path(path) for path in paths])
        self._hashes = JoinedValues(hashes)

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, at: int) -> str:
        """Return the path of the file at a position."""
        return self._paths[at].decode("utf-8", "surrogatepass")

    def paths(self) -> Iterator[str]:
        """Yield the path of each file."""
        return (path.decode("utf-8", "surrogatepass") for path in self._paths)

    def find(self, path: str) -> int:
        """Return the position of a path, -1 if there is no such file."""
        return self._paths.find(encode_path(path))

    def record(self, at: int, prefix: str = "", first_chunk: int = 0, first_unit: int = 0) -> FileRecord:
        """Return the record of the file at a position, with what its path starts with and with the numbers
        that its own are counted from."""
        size, mtime, lines, chunk, chunks, settled, unit, units, ctime, inode = (
            self.numbers[name].item(at) for name in _NUMBERS
        )
        language, encoding, redactions, tags = self.texts[self.texts_of.item(at)]
        file = prefix + self.path(at), size, mtime, self._hashes[at], language, encoding, lines, redactions
        counted = chunk + first_chunk, chunks, settled, unit + first_unit, units
        return file_record((0, 0, *file, tags, *counted, ctime, inode))

    def is_same(self, at: int, other: FileColumns, there: int) -> bool:
        """Return whether a file has the same content, numbers and tags as one of another table."""
        texts, others = self.texts[self.texts_of.item(at)], other.texts[other.texts_of.item(there)]
        return (
            self._hashes[at] == other._hashes[there]
            and (texts[0], texts[3]) == (others[0], others[3])
            and all(
                self.numbers[name].item(at) == other.numbers[name].item(there)
                for name in ("first_chunk", "first_unit")
            )
        )


def _narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in as few bytes as hold the largest; files of a commit have no times, for one."""
    if not len(column):
        return column
    least, most = int(column.min()), int(column.max())
    return column.astype(np.int64 if least < 0 else np.min_scalar_type(most))
