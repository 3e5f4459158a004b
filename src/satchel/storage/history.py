"""How is the past of a repository kept, so that a question finds the commits like it at little cost?

Terms are counted when the history is read, not when a question comes: taking 2,000 messages apart takes
longer than the rest of a search. Neither a message nor a time is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress as compress_by
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.errors import IndexCorrupt
from satchel.storage.deflate import DeflateError, compress, decompress
from satchel.storage.records import HistoryCommit
from satchel.terms import terms

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

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
    # How many commits of its own repository are newer than each, 4 bytes each; empty where there is one
    # repository.
    ages: bytes = b""

    def postings(self, term: str) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """Return the positions of the commits whose messages hold a term, and how often each does."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return np.zeros(0, np.uint16), np.zeros(0, np.uint8)
        ends = np.frombuffer(self.ends, "<u4")
        held = slice(int(ends[at - 1]) if at else 0, int(ends[at]))
        return np.frombuffer(self.commits, "<u2")[held], np.frombuffer(self.frequencies, np.uint8)[held]

    @property
    def commit_count(self) -> int:
        """Return how many commits there are."""
        return len(self.lengths) // 4

    def newest(self, count: int) -> PackedHistory:
        """Return the newest commits alone, with the paths and terms that they have."""
        if count >= self.commit_count:
            return self
        path_count = int(np.frombuffer(self.path_counts, "<u4")[:count].sum())
        used, places = np.unique(np.frombuffer(self.path_places, "<u4")[:path_count], return_inverse=True)
        is_kept = np.frombuffer(self.commits, "<u2") < count
        ends = np.append(0, np.cumsum(is_kept))[np.frombuffer(self.ends, "<u4")]
        has_some = np.diff(ends, prepend=0) > 0
        return PackedHistory(
            paths=tuple(self.paths[place] for place in used.tolist()),
            path_counts=self.path_counts[: 4 * count],
            path_places=places.astype("<u4").tobytes(),
            lengths=self.lengths[: 4 * count],
            terms=tuple(compress_by(self.terms, has_some.tolist())),
            ends=ends[has_some].astype("<u4").tobytes(),
            commits=np.frombuffer(self.commits, "<u2")[is_kept].tobytes(),
            frequencies=np.frombuffer(self.frequencies, "u1")[is_kept].tobytes(),
        )


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
    return pack(arrange(commits)) if commits else b""


def pack(history: PackedHistory) -> bytes:
    """Return the bytes that a store keeps of arranged commits."""
    return compress(msgspec.msgpack.encode(history))


def unpack_history(data: bytes) -> PackedHistory:
    """Return the commits that these bytes of a store hold."""
    if not data:
        return PackedHistory()
    try:
        return msgspec.msgpack.decode(decompress(data), type=PackedHistory)
    except (DeflateError, msgspec.MsgspecError) as error:
        raise IndexCorrupt(f"the history in the index cannot be read: {error}") from error


def join_histories(parts: Sequence[tuple[str, PackedHistory]]) -> PackedHistory:
    """Return the histories of some repositories as one. Each comes with what its paths start with.

    No history knows the time of its commits: those that are equally new in their own repository stand
    together.
    """
    parts = _with_newest(parts)
    histories = [history for _, history in parts]
    sizes = [history.commit_count for history in histories]
    ages = _joined([np.arange(size) for size in sizes])
    order = np.lexsort((np.repeat(np.arange(len(sizes)), sizes), ages))
    places = np.empty(len(ages), np.int64)  # of each commit in the joint history
    places[order] = np.arange(len(order))
    counts = _joined([np.frombuffer(history.path_counts, "<u4") for history in histories])
    lengths = _joined([np.frombuffer(history.lengths, "<u4") for history in histories])
    return PackedHistory(
        tuple(prefix + path for prefix, history in parts for path in history.paths),
        _bytes(counts[order].tolist(), "<u4"),
        _bytes(_joined_paths(histories, places[np.repeat(np.arange(len(counts)), counts)]), "<u4"),
        _bytes(lengths[order].tolist(), "<u4"),
        *_joined_terms(histories, sizes, places),
        _bytes(ages[order].tolist(), "<u4"),
    )


def _with_newest(parts: Sequence[tuple[str, PackedHistory]]) -> list[tuple[str, PackedHistory]]:
    """Return the histories with those commits that have a place in a joint one. Joining is done anew after
    each push, and 155 repositories have five times as many: leaving the rest out first takes .35 CPU seconds
    instead of .98."""
    sizes = [history.commit_count for _, history in parts]
    repositories = np.repeat(np.arange(len(sizes)), sizes)
    newest = np.lexsort((repositories, _joined([np.arange(size) for size in sizes])))[:_MOST_COMMITS]
    kept = np.bincount(repositories[newest], minlength=len(sizes)).tolist()
    return [(prefix, history.newest(count)) for (prefix, history), count in zip(parts, kept, strict=True)]


def _joined_paths(histories: Sequence[PackedHistory], commits: NDArray[np.int64]) -> list[int]:
    """Return the places of the paths of all commits, commit after commit; `commits` has the commit of
    each."""
    firsts = np.cumsum([0, *(len(history.paths) for history in histories)])[: len(histories)].tolist()
    pairs = zip(histories, firsts, strict=True)
    places = _joined([np.frombuffer(history.path_places, "<u4") + first for history, first in pairs])
    found: list[int] = places[np.argsort(commits, kind="stable")].tolist()
    return found


def _joined_terms(
    histories: Sequence[PackedHistory], sizes: Sequence[int], places: NDArray[np.int64]
) -> tuple[tuple[str, ...], bytes, bytes, bytes]:
    """Return the terms of all messages with their postings, as a packed history has them."""
    ordered = sorted({term for history in histories for term in history.terms})
    numbers = {term: number for number, term in enumerate(ordered)}
    terms_of, commits, first = [], [], 0
    for history, size in zip(histories, sizes, strict=True):
        own = np.array([numbers[term] for term in history.terms], np.int64)
        ends = np.frombuffer(history.ends, "<u4").astype(np.int64)
        terms_of.append(np.repeat(own, ends - np.concatenate((np.zeros(1, np.int64), ends))[:-1]))
        commits.append(places[np.frombuffer(history.commits, "<u2").astype(np.int64) + first])
        first += size
    term, commit = _joined(terms_of), _joined(commits)
    order = np.lexsort((commit, term))
    frequencies = _joined([np.frombuffer(history.frequencies, "u1") for history in histories])
    last = np.cumsum(np.bincount(term, minlength=len(ordered))).astype("<u4")
    by_term = commit[order].astype("<u2").tobytes(), frequencies[order].astype("u1").tobytes()
    return tuple(ordered), last.tobytes(), *by_term


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *arrays]).astype(np.int64)


def _bytes(values: Iterable[int], kind: str) -> bytes:
    return np.fromiter(values, kind).tobytes()
