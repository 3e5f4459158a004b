"""How is the past of a repository kept, so that a question finds the commits like it at little cost?

Terms are counted when the history is read, not when a question comes: taking 2,000 messages apart takes
longer than the rest of a search. Neither a message nor a time is kept.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.errors import IndexCorrupt
from satchel.storage.records import HistoryCommit
from satchel.terms import terms

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_FAST_COMPRESSION = 1  # zlib level
_MOST_COUNTED = 255  # of one term in one message: the most that a byte holds
_MOST_COMMITS = 65_535  # whose places two bytes hold


class PackedHistory(msgspec.Struct, frozen=True, array_like=True):
    """The last commits, newest first, as packed arrays; a commit is known by its position."""

    paths: tuple[str, ...] = ()  # sorted
    path_counts: bytes = b""  # of each commit, 4 bytes each
    path_places: bytes = b""  # in `paths`, commit after commit, 4 bytes each
    lengths: bytes = b""  # terms in each message, 4 bytes each
    terms: tuple[str, ...] = ()  # sorted
    ends: bytes = b""  # where each term's postings end, 4 bytes each
    commits: bytes = b""  # that hold the term, ascending, 2 bytes each
    frequencies: bytes = b""  # how often, a byte each

    def postings(self, term: str) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """Return the positions of the commits whose messages hold a term, and how often each does."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return np.zeros(0, np.uint16), np.zeros(0, np.uint8)
        ends = np.frombuffer(self.ends, "<u4")
        held = slice(int(ends[at - 1]) if at else 0, int(ends[at]))
        return np.frombuffer(self.commits, "<u2")[held], np.frombuffer(self.frequencies, np.uint8)[held]


def arrange(commits: Sequence[HistoryCommit]) -> PackedHistory:
    """Return commits, which come newest first, as packed arrays with an index of their terms."""
    commits = commits[:_MOST_COMMITS]
    paths = sorted({path for commit in commits for path in commit.paths})
    place_of = {path: place for place, path in enumerate(paths)}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = []
    for place, commit in enumerate(commits):
        counts = Counter(terms(commit.message))
        lengths.append(counts.total())
        for term, count in counts.items():
            found[term].append((place, min(count, _MOST_COUNTED)))
    ordered = sorted(found)
    held = [pair for term in ordered for pair in found[term]]
    return PackedHistory(
        paths=tuple(paths),
        path_counts=_bytes((len(commit.paths) for commit in commits), "<u4"),
        path_places=_bytes((place_of[path] for commit in commits for path in commit.paths), "<u4"),
        lengths=_bytes(lengths, "<u4"),
        terms=tuple(ordered),
        ends=np.cumsum([len(found[term]) for term in ordered]).astype("<u4").tobytes(),
        commits=_bytes((place for place, _ in held), "<u2"),
        frequencies=_bytes((count for _, count in held), "u1"),
    )


def pack_history(commits: Sequence[HistoryCommit]) -> bytes:
    """Return the bytes that a store keeps of commits, which come newest first; empty for none."""
    if not commits:
        return b""
    return zlib.compress(msgspec.msgpack.encode(arrange(commits)), _FAST_COMPRESSION)


def unpack_history(data: bytes) -> PackedHistory:
    """Return the commits that these bytes of a store hold."""
    if not data:
        return PackedHistory()
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=PackedHistory)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise IndexCorrupt(f"the history in the index cannot be read: {error}") from error


def _bytes(values: Iterable[int], kind: str) -> bytes:
    return np.fromiter(values, kind).tobytes()
