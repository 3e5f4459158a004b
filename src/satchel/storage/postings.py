"""The bytes of the full-text index: how often each term stands in each field of each unit.

A posting is a unit's offset inside its run (4 bytes) and its counts packed into 2 bytes,
one group of bits per field. A term's row is all its offsets followed by all its counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.storage.records import PostingRun

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]
    Counts = NDArray[np.uint16]


POSTING_BYTES = 6


class Field(msgspec.Struct, frozen=True):
    """The bits of one field in a packed count; counts above `limit` are written as `limit`."""

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
    """Return the row of a term: the offsets of its units and their packed counts."""
    return offsets.astype("<u4").tobytes() + packed.astype("<u2").tobytes()


def decode(data: bytes) -> tuple[Numbers, Counts]:
    """Return the offsets and packed counts that the row of a term holds."""
    count = len(data) // POSTING_BYTES
    offsets = np.frombuffer(data, "<u4", count)
    return offsets, np.frombuffer(data, "<u2", count, offset=4 * count)


class MergedRun(msgspec.Struct, frozen=True):
    """Several posting runs as one, without the files that are gone."""

    run: PostingRun
    rows: Iterator[tuple[str, bytes]]


def merge(
    number: int,
    runs: Sequence[tuple[PostingRun, Iterable[tuple[str, bytes]]]],
    living: Callable[[Sequence[int]], set[int]],
) -> MergedRun:
    """Merge posting runs with their rows. `living` returns which of some files, named by their first unit,
    are still there."""
    moves: list[NDArray[np.int64]] = []
    kept: list[tuple[NDArray[Any], ...]] = []
    base = 0
    # Asked once, because a writer reads the records of all files for it.
    there = living([int(first) for run, _ in runs for first in np.frombuffer(run.files, "<u4")[::2]])
    for run, _ in runs:
        files = np.frombuffer(run.files, "<u4").reshape(-1, 2)
        keep_files = np.fromiter((first in there for first in files[:, 0].tolist()), bool, len(files))
        keep = np.repeat(keep_files, files[:, 1])
        moves.append(np.where(keep, base + np.cumsum(keep) - 1, -1))
        lengths = np.frombuffer(run.lengths, "<u2").reshape(-1, 2)
        lines = np.frombuffer(run.lines, "<u4").reshape(-1, 2)
        vectors = np.frombuffer(run.vectors, np.int8).reshape(len(files), -1)
        kept.append((files[keep_files], lengths[keep], lines[keep], vectors[keep_files]))
        base += int(keep.sum())
    joined = (b"".join(part.tobytes() for part in parts) for parts in zip(*kept, strict=True))
    merged = PostingRun(number, *joined)
    return MergedRun(merged, _merged_rows([rows for _, rows in runs], moves))


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
