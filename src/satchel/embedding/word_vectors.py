"""Which vector does a term have? The table that ships with the package, trained by `benchmarks/embedding`.

The file: a header (magic, format, rows, dimensions, length of the vocabulary in bytes, model id), the
sorted vocabulary joined by newlines, the rows as int8. All rows share one scale, which no cosine depends on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import repeat
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding.model import DATA, HEADER, MAGIC

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

UNKNOWN_ROW = -1
_NEWLINE = 10
_FORMAT = 1  # counts up whenever the layout of the file changes


class WordVectors:
    """Terms as `satchel.terms` gives them (no `=` compounds), each with one row of `table`. They are sorted
    and joined by newlines: a question has so few that it is quicker to look for them than to make a table."""

    def __init__(self, model_id: str, table: NDArray[np.int8], joined_terms: bytes) -> None:
        self.model_id = model_id
        self.table = table
        self._joined = joined_terms
        ends = np.flatnonzero(np.frombuffer(joined_terms, np.uint8) == _NEWLINE)
        self._bounds = np.concatenate(([-1], ends, [len(joined_terms)]))
        if len(self._bounds) != len(table) + 1:
            raise ValueError(f"{len(table)} rows for {len(self._bounds) - 1} terms")

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return int(self.table.shape[1])

    def row(self, term: str) -> int:
        """The row of a term, -1 for one that has none."""
        wanted = term.encode("utf-8", "surrogatepass")  # sorts as the characters do
        row = bisect_left(range(len(self.table)), wanted, key=self._term)
        return row if row < len(self.table) and self._term(row) == wanted else UNKNOWN_ROW

    def _term(self, row: int) -> bytes:
        return self._joined[self._bounds[row] + 1 : self._bounds[row + 1]]

    def rows(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """The rows of many terms, in their order."""
        return np.fromiter(map(self._row_of.get, terms, repeat(UNKNOWN_ROW)), np.int32)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {term: row for row, term in enumerate(self.terms)}

    @property
    def terms(self) -> list[str]:
        """All of them, in the order of the rows."""
        return self._joined.decode("utf-8").split("\n")


@cache
def load() -> WordVectors | None:
    """The table that ships with the package; None where it was left out."""
    return read(DATA)


def read(path: Path) -> WordVectors | None:
    """The table in a file; None if there is no such file."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER.size)
            if len(header) < HEADER.size or not header.startswith(MAGIC):
                raise ValueError(f"{path.name} is not a table of word vectors")
            _, layout, count, dimensions, joined_size, model_id = HEADER.unpack(header)
            if layout != _FORMAT:
                raise ValueError(f"{path.name} has format {layout}, not {_FORMAT}")
            joined = file.read(joined_size)
            content = mmap(file.fileno(), 0, access=ACCESS_READ)  # a question touches a few of the rows
    except FileNotFoundError:
        return None
    table = np.frombuffer(content, np.int8, count * dimensions, HEADER.size + joined_size)
    return WordVectors(model_id.rstrip(b"\0").decode(), table.reshape(count, dimensions), joined)


def write(path: Path, model_id: str, vocabulary: Sequence[str], table: NDArray[np.int8]) -> None:
    """Keep a table; `vocabulary` is sorted, without repetitions, one term for each row."""
    if list(vocabulary) != sorted(set(vocabulary)) or len(vocabulary) != len(table):
        raise ValueError("the vocabulary must be sorted, without repetitions, one term for each row")
    words = "\n".join(vocabulary).encode("utf-8")
    header = HEADER.pack(MAGIC, _FORMAT, *table.shape, len(words), model_id.encode())
    path.write_bytes(header + words + np.ascontiguousarray(table, np.int8).tobytes())
