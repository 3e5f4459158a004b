"""Term counts of many files → one run of the full-text index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from satchel.storage.records import PostingRun

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.storage.postings import Counts, Numbers


_SHORT = 65_535  # the largest number of 16 bits


@dataclass(frozen=True, slots=True)
class TermBatch:
    """The terms of some files, as a worker hands them over. `sizes` holds the number of distinct terms of
    each unit."""

    vocabulary: list[str]
    term_ids: bytes
    packed: bytes
    sizes: list[int]
    lengths: bytes  # of the code and the comments of each unit, 2 bytes each
    lines: bytes  # first and last line of each unit, 4 bytes each


class TermNumbers(dict[str, int]):
    """Numbers terms in the order in which they are first asked for; `names` has the terms by number."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self.names)
        self.names.append(term)
        return number


class PostingRunBuilder:
    """Collects batches and turns them into one run."""

    def __init__(self) -> None:
        self._vocabulary = TermNumbers()
        self._terms: list[NDArray[np.int32]] = []
        self._offsets: list[Numbers] = []
        self._packed: list[Counts] = []
        self._files: list[tuple[int, int]] = []
        self._unit_count = 0
        self._lengths: list[bytes] = []
        self._lines: list[bytes] = []
        self._vectors: list[bytes] = []
        self.posting_count = 0

    def add(self, batch: TermBatch, files: Sequence[tuple[int, int]], vectors: Sequence[bytes]) -> None:
        """Add a batch of files, each with its first unit in the store, its count of units and its vector."""
        base = self._unit_count
        self._files.extend(files)
        self._vectors.extend(vectors)
        self._unit_count += len(batch.sizes)
        self._lengths.append(batch.lengths)
        self._lines.append(batch.lines)
        if not batch.vocabulary:
            return
        numbers = np.fromiter(map(self._vocabulary.__getitem__, batch.vocabulary), np.int32)
        self._terms.append(numbers[np.frombuffer(batch.term_ids, np.uint32)])
        places = np.arange(base, base + len(batch.sizes), dtype=np.uint32)
        self._offsets.append(np.repeat(places, batch.sizes))
        self._packed.append(np.frombuffer(batch.packed, np.uint16))
        self.posting_count += len(self._packed[-1])

    def build(self, number: int) -> PostingRun:
        """Return the run without its terms: which files it covers, and the arrays of their units."""
        return PostingRun(
            number=number,
            files=np.array(self._files, "<u4").tobytes(),
            lengths=b"".join(self._lengths),
            lines=b"".join(self._lines),
            vectors=b"".join(self._vectors),
        )

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """Return the rows of the run, by term."""
        if not self._terms:
            return
        names = sorted(self._vocabulary)
        rank = np.empty(len(names), np.int32)
        rank[np.fromiter(map(self._vocabulary.__getitem__, names), np.int32)] = np.arange(len(names))
        terms = rank[np.concatenate(self._terms)]
        ends = np.cumsum(np.bincount(terms, minlength=len(names))).tolist()
        order = _stable_order(terms)
        offsets = np.concatenate(self._offsets)[order].astype("<u4").tobytes()
        packed = np.concatenate(self._packed)[order].astype("<u2").tobytes()
        start = 0
        for name, end in zip(names, ends, strict=True):
            yield name, offsets[4 * start : 4 * end] + packed[2 * start : 2 * end]
            start = end


def _stable_order(terms: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the positions of postings by term, those of one term in their order: the order of units."""
    # numpy sorts 16 bits by counting. Two such steps take half the time of sorting whole postings.
    order = np.argsort(terms.astype(np.uint16), kind="stable")
    if terms.max() > _SHORT:
        order = order[np.argsort((terms >> 16).astype(np.uint16)[order], kind="stable")]
    return order
