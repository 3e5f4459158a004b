"""All posting runs of a generation as arrays, laid end to end.

A library makes them of the arrays of its repositories. What a repository has of them afterwards are parts of
the same arrays, so nothing is held twice, and a repository that did not change is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from satchel.storage.records import PostingRun

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray


class JoinedRuns(Sequence[PostingRun]):
    """Posting runs by number. `files` has the first unit and the count of units of each file of the runs,
    `lengths` and `lines` have a row for each unit, `vectors` one for each file, or for none."""

    def __init__(
        self,
        numbers: Sequence[int],
        unit_counts: Sequence[int],
        file_counts: Sequence[int],
        arrays: tuple[NDArray[np.uint32], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.int8]],
    ) -> None:
        self.numbers = tuple(numbers)
        self.unit_counts = tuple(unit_counts)
        self.file_counts = tuple(file_counts)
        self.files, self.lengths, self.lines, self.vectors = arrays

    @classmethod
    def of(cls, runs: Sequence[PostingRun]) -> Self:
        """Return the arrays of some runs. Vectors are left out unless every run with files has them."""
        has_vectors = all(run.vectors for run in runs if run.files)
        file_counts = [len(run.files) // 8 for run in runs]
        vectors = np.frombuffer(b"".join(run.vectors for run in runs if has_vectors), np.int8)
        width = len(vectors) // max(1, sum(file_counts))
        arrays = (
            np.frombuffer(b"".join(run.files for run in runs), "<u4").reshape(-1, 2),
            np.frombuffer(b"".join(run.lengths for run in runs), "<u2").reshape(-1, 2),
            np.frombuffer(b"".join(run.lines for run in runs), "<u4").reshape(-1, 2),
            vectors.reshape(sum(file_counts) if width else 0, width),
        )
        return cls([run.number for run in runs], [run.unit_count for run in runs], file_counts, arrays)

    @classmethod
    def joined(cls, parts: Sequence[JoinedRuns]) -> Self:
        """Return the runs of some parts, one part after another, without vectors unless all of them have
        some."""
        vectors = [part.vectors for part in parts if part.has_files]
        if not all(map(len, vectors)):
            vectors = []
        arrays = (
            _laid_out([part.files for part in parts], np.uint32),
            _laid_out([part.lengths for part in parts], np.uint16),
            _laid_out([part.lines for part in parts], np.uint32),
            np.concatenate(vectors) if vectors else np.zeros((0, 0), np.int8),
        )
        return cls(
            [number for part in parts for number in part.numbers],
            [count for part in parts for count in part.unit_counts],
            [count for part in parts for count in part.file_counts],
            arrays,
        )

    def parted(self, counts: Sequence[int]) -> list[Self]:
        """Return as many runs as each count says, one part after another, in the same arrays."""
        return [self._part(sum(counts[:at]), sum(counts[: at + 1])) for at in range(len(counts))]

    def _part(self, start: int, stop: int) -> Self:
        files = slice(sum(self.file_counts[:start]), sum(self.file_counts[:stop]))
        units = slice(sum(self.unit_counts[:start]), sum(self.unit_counts[:stop]))
        arrays = self.files[files], self.lengths[units], self.lines[units], self.vectors[files]
        counts = self.unit_counts[start:stop], self.file_counts[start:stop]
        return type(self)(self.numbers[start:stop], *counts, arrays)

    def moved(self, run: int, unit: int) -> Self:
        """Return the same runs with other numbers: those of the runs and of their units are so much
        larger."""
        files = self.files + np.array([unit, 0], np.uint32)
        arrays = files, self.lengths, self.lines, self.vectors
        return type(self)(
            [number + run for number in self.numbers], self.unit_counts, self.file_counts, arrays
        )

    def without_vectors(self) -> Self:
        """Return the same runs without the vectors of their files."""
        arrays = self.files, self.lengths, self.lines, np.zeros((0, 0), np.int8)
        return type(self)(self.numbers, self.unit_counts, self.file_counts, arrays)

    @property
    def has_files(self) -> bool:
        """Return whether any file is in these runs."""
        return len(self.files) > 0

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> PostingRun: ...
    @overload
    def __getitem__(self, at: slice) -> list[PostingRun]: ...
    def __getitem__(self, at: int | slice) -> PostingRun | list[PostingRun]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        one = self._part(at, at + 1)
        arrays = one.files, one.lengths, one.lines, one.vectors
        return PostingRun(self.numbers[at], *(array.tobytes() for array in arrays))


def _laid_out(arrays: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros((0, 2), kind), *arrays])
