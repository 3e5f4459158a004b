"""The full-text index as bytes: how often which term stands in which part of which chunk.

A posting is a chunk's offset inside its segment (4 bytes) and its counts packed into 2 bytes,
one group of bits per field. A term's row is all its offsets followed by all its counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from satchel.storage.records import Segment

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]
    Counts = NDArray[np.uint16]


POSTING_BYTES = 6


@dataclass(frozen=True, slots=True)
class Field:
    """One group of bits: counts above `limit` are written as `limit`."""

    shift: int
    limit: int

    def read(self, packed: Counts) -> Counts:
        return (packed >> np.uint16(self.shift)) & np.uint16(self.limit)


BODY = Field(0, 63)
COMMENT = Field(6, 15)
NAME = Field(10, 7)
STEM = Field(13, 1)
FOLDER = Field(14, 1)


def encode(offsets: Numbers, packed: Counts) -> bytes:
    """A term's row."""
    return offsets.astype("<u4").tobytes() + packed.astype("<u2").tobytes()


def decode(data: bytes) -> tuple[Numbers, Counts]:
    """The offsets and packed counts of a term's row."""
    count = len(data) // POSTING_BYTES
    offsets = np.frombuffer(data, "<u4", count)
    return offsets, np.frombuffer(data, "<u2", count, offset=4 * count)


@dataclass(frozen=True, slots=True)
class Merged:
    """Several segments as one, without the chunks that are gone."""

    segment: Segment
    rows: Iterator[tuple[str, bytes]]


def merge(
    number: int,
    segments: Sequence[tuple[Segment, Iterable[tuple[str, bytes]]]],
    alive: Sequence[NDArray[np.bool_]],
) -> Merged:
    """Merge segments with their rows; `alive` says of each segment which of its chunks still exist."""
    moves: list[NDArray[np.int64]] = []
    kept_numbers: list[Numbers] = []
    kept_lengths: list[NDArray[np.uint16]] = []
    base = 0
    for (segment, _), keep in zip(segments, alive, strict=True):
        numbers = np.frombuffer(segment.chunk_numbers, "<u4")
        moves.append(np.where(keep, base + np.cumsum(keep) - 1, -1))
        kept_numbers.append(numbers[keep])
        kept_lengths.append(np.frombuffer(segment.lengths, "<u2").reshape(-1, 2)[keep])
        base += int(keep.sum())
    merged = Segment(
        number=number,
        chunk_numbers=np.concatenate(kept_numbers).tobytes(),
        lengths=np.concatenate(kept_lengths).tobytes(),
    )
    return Merged(merged, _merged_rows([rows for _, rows in segments], moves))


def _merged_rows(
    sources: Sequence[Iterable[tuple[str, bytes]]], moves: Sequence[NDArray[np.int64]]
) -> Iterator[tuple[str, bytes]]:
    tagged = [_tagged(place, rows) for place, rows in enumerate(sources)]
    for term, rows in groupby(heapq.merge(*tagged), key=itemgetter(0)):
        offsets, packed = [], []
        for _, place, data in rows:
            old_offsets, counts = decode(data)
            new_offsets = moves[place][old_offsets]
            keep = new_offsets >= 0
            offsets.append(new_offsets[keep].astype(np.uint32))
            packed.append(counts[keep])
        joined = np.concatenate(offsets)
        if len(joined):
            yield term, encode(joined, np.concatenate(packed))


def _tagged(place: int, rows: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, int, bytes]]:
    for term, data in rows:
        yield term, place, data
