"""The files of many repositories as one table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from satchel.caching import Cache
from satchel.storage.file_columns import FileColumns
from satchel.storage.file_table import IndexedFiles
from satchel.storage.records import FileRecord

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_RECORDS_KEPT = 4_000  # the candidates of a dozen queries: about 3 MB


class RepositoryFiles(NamedTuple):
    """The files of a repository, its name, and what is added to the numbers of its chunks and units."""

    name: str
    columns: FileColumns
    first_chunk: int
    first_unit: int


class JointFiles(IndexedFiles):
    """The files of some repositories, which come in the order of their paths."""

    order = None

    def __init__(self, repositories: Sequence[RepositoryFiles]) -> None:
        self._repositories = repositories
        counts = [len(one.columns) for one in repositories]
        self._starts = list(accumulate(counts, initial=0))
        self._number_of = {one.name: number for number, one in enumerate(repositories)}
        self._records: Cache[int, FileRecord] = Cache(_RECORDS_KEPT)

    def __len__(self) -> int:
        return self._starts[-1]

    def record(self, at: int) -> FileRecord:
        found = self._records.get(at)
        if found is None:
            one, own = self._own(at)
            made = one.columns.record(own, f"{one.name}/", one.first_chunk, one.first_unit)
            found = self._records.keep(at, made)
        return found

    def path(self, at: int) -> str:
        one, own = self._own(at)
        return f"{one.name}/{one.columns.path(own)}"

    def paths(self) -> Iterator[str]:
        """Yield the path of each file."""
        return (f"{one.name}/{path}" for one in self._repositories for path in one.columns.paths())

    def _own(self, at: int) -> tuple[RepositoryFiles, int]:
        """Return the repository of the file at a position, and the position of the file in it."""
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        at %= len(self)
        number = bisect_right(self._starts, at) - 1
        return self._repositories[number], at - self._starts[number]

    def find(self, path: str) -> int:
        """Return the position of a path, -1 if there is no such file."""
        name, _, own = path.partition("/")
        number = self._number_of.get(name)
        at = -1 if number is None else self._repositories[number].columns.find(own)
        return at if number is None or at < 0 else self._starts[number] + at

    def has_same(self, at: int, other: Sequence[FileRecord], there: int) -> bool:
        if not isinstance(other, JointFiles):
            return super().has_same(at, other, there)
        one, own = self._own(at)
        before, old = other._own(there)
        if one[2:] != before[2:] or one.name != before.name:
            return False
        return (one.columns is before.columns and own == old) or one.columns.is_same(own, before.columns, old)

    @cached_property
    def position_of(self) -> Mapping[str, int]:
        return JointPositions(self)

    @cached_property
    def texts(self) -> list[tuple[str, str, str, str]]:  # type: ignore[override]  # computed once
        return [text for one in self._repositories for text in one.columns.texts]

    def texts_of(self) -> NDArray[np.int64]:
        bases = accumulate((len(one.columns.texts) for one in self._repositories), initial=0)
        return self._joined(
            [
                one.columns.texts_of.astype(np.int64) + base
                for one, base in zip(self._repositories, bases, strict=False)
            ]
        )

    def column(self, name: str) -> NDArray[np.int64]:
        found = [one.columns.numbers[name].astype(np.int64) for one in self._repositories]
        if name in ("first_chunk", "first_unit"):
            for one, column in zip(self._repositories, found, strict=True):
                column += getattr(one, name)
        return self._joined(found)

    @staticmethod
    def _joined(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *columns])


class JointPositions(Mapping[str, int]):
    """The position of each path in a table: a path is looked up where it lies, so no dictionary holds all of
    them."""

    def __init__(self, files: JointFiles) -> None:
        self._files = files

    def __getitem__(self, path: str) -> int:
        at = self._files.find(path)
        if at < 0:
            raise KeyError(path)
        return at

    def __iter__(self) -> Iterator[str]:
        return self._files.paths()

    def __len__(self) -> int:
        return len(self._files)
