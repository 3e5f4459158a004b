"""Which vector does a term have? The table that ships with the package, trained by `benchmarks/embedding`.

The file: a header (magic, format, rows, dimensions, length of the vocabulary in bytes, model id), the
sorted vocabulary joined by newlines, the rows as int8. All rows share one scale, which no cosine depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.embedding.model import DATA, HEADER, MAGIC

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

UNKNOWN_ROW = -1
_FORMAT = 1  # counts up whenever the layout of the file changes


class WordVectors(msgspec.Struct, frozen=True):
    """Terms as `satchel.terms` gives them (no `=` compounds), each with one row of `table`."""

    model_id: str
    table: NDArray[np.int8]
    row_of: dict[str, int]

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return int(self.table.shape[1])

    def row(self, term: str) -> int:
        """The row of a term, -1 for one that has none."""
        return self.row_of.get(term, UNKNOWN_ROW)

    def rows(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """The rows of terms, in their order."""
        return np.fromiter(map(self.row_of.get, terms, repeat(UNKNOWN_ROW)), np.int32)


@cache
def load() -> WordVectors | None:
    """The table that ships with the package; None where it was left out."""
    return read(DATA)


def read(path: Path) -> WordVectors | None:
    """The table in a file; None if there is no such file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(content) < HEADER.size or not content.startswith(MAGIC):
        raise ValueError(f"{path.name} is not a table of word vectors")
    _, layout, count, dimensions, vocabulary_size, model_id = HEADER.unpack_from(content)
    if layout != _FORMAT:
        raise ValueError(f"{path.name} has format {layout}, not {_FORMAT}")
    table_start = HEADER.size + vocabulary_size
    vocabulary = content[HEADER.size : table_start].decode("utf-8").split("\n")
    table = np.frombuffer(content, np.int8, count * dimensions, table_start).reshape(count, dimensions)
    return WordVectors(
        model_id.rstrip(b"\0").decode(), table, dict(zip(vocabulary, range(count), strict=True))
    )


def write(path: Path, model_id: str, vocabulary: Sequence[str], table: NDArray[np.int8]) -> None:
    """Keep a table; `vocabulary` is sorted, without repetitions, one term for each row."""
    if list(vocabulary) != sorted(set(vocabulary)) or len(vocabulary) != len(table):
        raise ValueError("the vocabulary must be sorted, without repetitions, one term for each row")
    words = "\n".join(vocabulary).encode("utf-8")
    header = HEADER.pack(MAGIC, _FORMAT, *table.shape, len(words), model_id.encode())
    path.write_bytes(header + words + np.ascontiguousarray(table, np.int8).tobytes())
