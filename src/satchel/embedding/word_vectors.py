"""The table of word vectors that ships with the package, trained by `benchmarks/embedding`.

The file has a header (magic, format, rows, dimensions, length of the vocabulary in bytes, model id), the
sorted vocabulary joined by newlines, and the rows as int8. All rows share one scale.
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

from satchel.embedding import DATA, HEADER, MAGIC

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

UNKNOWN_ROW = -1
_NEWLINE = 10
_FORMAT = 1  # counts up whenever the layout of the file changes


class WordVectors:
    """The vectors of terms as `satchel.terms` gives them (no `=` compounds), each one row of `table`.

    The terms are kept sorted and joined by newlines: a query has so few terms that a binary search for each
    is quicker than building a dictionary of all.
    """

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
        """Return the number of components of every vector."""
        return int(self.table.shape[1])

    def row(self, term: str) -> int:
        """Return the row of a term, -1 for a term that has none."""
        # UTF-8 sorts as the characters do.
        wanted = term.encode("utf-8", "surrogatepass")
        row = bisect_left(range(len(self.table)), wanted, key=self._term)
        return row if row < len(self.table) and self._term(row) == wanted else UNKNOWN_ROW

    def _term(self, row: int) -> bytes:
        return self._joined[self._bounds[row] + 1 : self._bounds[row + 1]]

    def rows(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """Return the rows of many terms, in their order."""
        return np.fromiter(map(self._row_of.get, terms, repeat(UNKNOWN_ROW)), np.int32)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {term: row for row, term in enumerate(self.terms)}

    @property
    def terms(self) -> list[str]:
        """Return all terms, in the order of the rows."""
        return self._joined.decode("utf-8").split("\n")


@cache
def load() -> WordVectors | None:
    """Return the table that ships with the package; None where it was left out."""
    return read(DATA)


def read(path: Path) -> WordVectors | None:
    """Return the table in a file; None if there is no such file."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER.size)
            if len(header) < HEADER.size or not header.startswith(MAGIC):
                raise ValueError(f"{path.name} is not a table of word vectors")
            _, layout, count, dimensions, joined_size, model_id = HEADER.unpack(header)
            if layout != _FORMAT:
                raise ValueError(f"{path.name} has format {layout}, not {_FORMAT}")
            joined = file.read(joined_size)
            # Mapped rather than read: a query touches few of the rows.
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
    except FileNotFoundError:
        return None
    table = np.frombuffer(content, np.int8, count * dimensions, HEADER.size + joined_size)
    return WordVectors(model_id.rstrip(b"\0").decode(), table.reshape(count, dimensions), joined)


def write(path: Path, model_id: str, vocabulary: Sequence[str], table: NDArray[np.int8]) -> None:
    """Write a table to a file; `vocabulary` is sorted, without repetitions, one term for each row."""
    if list(vocabulary) != sorted(set(vocabulary)) or len(vocabulary) != len(table):
        raise ValueError("the vocabulary must be sorted, without repetitions, one term for each row")
    words = "\n".join(vocabulary).encode("utf-8")
    header = HEADER.pack(MAGIC, _FORMAT, *table.shape, len(words), model_id.encode())
    path.write_bytes(header + words + np.ascontiguousarray(table, np.int8).tobytes())
