"""Term counts of many files → one segment of the full-text index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from satchel.storage.records import Segment

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.storage.postings import Counts, Numbers


@dataclass(frozen=True, slots=True)
class TermBatch:
    """The terms of some files, as a worker hands them over: `sizes` counts the terms of each chunk."""

    vocabulary: list[str]
    term_ids: bytes
    packed: bytes
    sizes: list[int]
    lengths: bytes  # body and comment length of each chunk, 2 bytes each


class Vocabulary(dict[str, int]):
    """Term → number, counting up as new terms are asked for."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class SegmentBuilder:
    """Collects batches and turns them into one segment."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._terms: list[NDArray[np.int32]] = []
        self._offsets: list[Numbers] = []
        self._packed: list[Counts] = []
        self._chunk_numbers: list[int] = []
        self._lengths: list[bytes] = []
        self.posting_count = 0

    def add(self, batch: TermBatch, chunk_numbers: Sequence[int]) -> None:
        """Add a batch whose chunks have these numbers in the store."""
        base = len(self._chunk_numbers)
        self._chunk_numbers.extend(chunk_numbers)
        self._lengths.append(batch.lengths)
        if not batch.vocabulary:
            return
        numbers = np.fromiter(map(self._vocabulary.__getitem__, batch.vocabulary), np.int32)
        self._terms.append(numbers[np.frombuffer(batch.term_ids, np.uint32)])
        places = np.arange(base, base + len(batch.sizes), dtype=np.uint32)
        self._offsets.append(np.repeat(places, batch.sizes))
        self._packed.append(np.frombuffer(batch.packed, np.uint16))
        self.posting_count += len(self._packed[-1])

    def segment(self, number: int) -> Segment:
        """What the segment covers."""
        return Segment(
            number=number,
            chunk_numbers=np.array(self._chunk_numbers, "<u4").tobytes(),
            lengths=b"".join(self._lengths),
        )

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """The rows of the segment, by term."""
        if not self._terms:
            return
        names = sorted(self._vocabulary)
        rank = np.empty(len(names), np.int32)
        rank[np.fromiter(map(self._vocabulary.__getitem__, names), np.int32)] = np.arange(len(names))
        terms = rank[np.concatenate(self._terms)]
        order = np.argsort(terms, kind="stable")
        offsets = np.concatenate(self._offsets)[order].astype("<u4").tobytes()
        packed = np.concatenate(self._packed)[order].astype("<u2").tobytes()
        ends = np.cumsum(np.bincount(terms, minlength=len(names))).tolist()
        start = 0
        for name, end in zip(names, ends, strict=True):
            yield name, offsets[4 * start : 4 * end] + packed[2 * start : 2 * end]
            start = end
