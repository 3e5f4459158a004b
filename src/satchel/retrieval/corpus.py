"""One generation of the index as arrays: which chunks exist, how long they are, whose they are.

Chunks are addressed by *place*: their position in all segments laid end to end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from satchel.storage import postings
from satchel.storage.protocol import Snapshot

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    Places = NDArray[np.int64]


class Corpus:
    """The arrays of a snapshot; built once per generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.files = snapshot.files()
        segments = snapshot.segments()
        self._segments = [segment.number for segment in segments]
        sizes = [len(segment.chunk_numbers) // 4 for segment in segments]
        self._bases = [0, *np.cumsum(sizes).tolist()]
        self.numbers = _joined([np.frombuffer(item.chunk_numbers, "<u4") for item in segments], np.uint32)
        lengths = _joined([np.frombuffer(item.lengths, "<u2") for item in segments], np.uint16)
        self.body_lengths, self.comment_lengths = lengths.reshape(-1, 2).T
        self.file_of = self._owners()
        self.alive = self.file_of >= 0
        self.chunk_count = int(self.alive.sum())
        self.mean_body_length = self._mean(self.body_lengths)
        self.mean_comment_length = self._mean(self.comment_lengths)

    def _owners(self) -> NDArray[np.int64]:
        """For each place the position of its file in `files`, or -1 for a chunk that is gone."""
        if not self.files or not len(self.numbers):
            return np.full(len(self.numbers), -1, np.int64)
        firsts = np.array([record.first_chunk for record in self.files], np.int64)
        ends = firsts + np.array([record.chunk_count for record in self.files], np.int64)
        # files without chunks share their first number with the next file: they own nothing
        keys = np.where(ends > firsts, firsts, -1)
        order = np.argsort(keys, kind="stable")
        owner = order[np.maximum(np.searchsorted(keys[order], self.numbers, side="right") - 1, 0)]
        inside = (self.numbers >= firsts[owner]) & (self.numbers < ends[owner])
        return np.where(inside, owner, -1)

    def _mean(self, lengths: NDArray[np.uint16]) -> float:
        """An integer sum and one division: the same on every machine and for every history."""
        return max(1.0, int(lengths[self.alive].sum(dtype=np.int64)) / max(1, self.chunk_count))

    def postings(self, term: str) -> tuple[Places, postings.Counts]:
        """The places of the living chunks that hold a term, with their packed counts."""
        places, counts = [], []
        for base, segment in zip(self._bases, self._segments, strict=False):
            data = self.snapshot.postings(segment, term)
            if data:
                offsets, packed = postings.decode(data)
                places.append(offsets.astype(np.int64) + base)
                counts.append(packed)
        all_places = _joined(places, np.int64)
        keep = self.alive[all_places]
        return all_places[keep], _joined(counts, np.uint16)[keep]


def _joined(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
