"""Which files hold a text? Candidates by the words of the index, then a scan of their contents.

Contents are the indexed text, in which secrets are redacted, with every line end as `\\n`: line numbers and
columns are those of the file. They are kept decoded as long as they are small together, so that a text whose
words tell nothing is found by a scan of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.cancellation import CancelToken
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.required_text import Clause
from satchel.retrieval.text_pattern import TextPattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Positions

_POLLED = 64  # files between two looks at the token
_FEW_TIMES = 16  # as many as units: a longer list is searched for each unit rather than gone through
_LINE_END = re.compile(rb"\r\n?")
_NEWLINE = ord("\n")


class FileMatches(msgspec.Struct, frozen=True):
    """A file, by its position, and how often the pattern matches in it."""

    at: int
    count: int


class Scan(msgspec.Struct, frozen=True):
    """The files with matches in the order they were read. `unread` counts the files that were not read
    because the time was over; `read` counts the others that were looked into."""

    files: tuple[FileMatches, ...]
    read: int
    unread: int = 0


def content_of(corpus: Corpus, at: int) -> bytes:
    """Return the text of a file as bytes, with line ends as `\\n`."""
    path = corpus.path(at)
    kept = corpus.file_cache.contents
    found = kept.get(path)
    if found is not None:
        return found
    content = corpus.snapshot.encoded_text(path)
    if b"\r" in content:
        content = _LINE_END.sub(b"\n", content)
    # A file of a tree that does not fit is not kept: it would push out another before it is asked for again.
    return kept.keep(path, content, len(content)) if corpus.memo(_fits) else content


def line_ends(corpus: Corpus, at: int) -> NDArray[np.int32]:
    """Return where the line ends stand in the content of a file."""
    path = corpus.path(at)
    kept = corpus.file_cache.line_ends
    found = kept.get(path)
    if found is None:
        content = np.frombuffer(content_of(corpus, at), np.uint8)
        found = np.flatnonzero(content == _NEWLINE).astype(np.int32)
        kept.keep(path, found, len(found))
    return found


def _fits(corpus: Corpus) -> bool:
    return corpus.text_bytes <= corpus.file_cache.contents.limit


def scan(corpus: Corpus, pattern: TextPattern, order: Sequence[int], token: CancelToken) -> Scan:
    """Return which of some files hold a pattern. `order` are their positions; the scan ends early when the
    deadline of the token has passed, and raises Cancelled when the token was cancelled."""
    candidates = candidate_files(corpus, pattern.required)
    found: list[FileMatches] = []
    chosen = [at for at in order if candidates[at]] if candidates is not None else order
    kept, count_in = corpus.file_cache.contents, pattern.count
    for start in range(0, len(chosen), _POLLED):
        if start:
            if token.is_expired and not token.is_cancelled:
                return Scan(tuple(found), start, len(chosen) - start)
            token.check()
        for at in chosen[start : start + _POLLED]:
            content = kept.get(corpus.path(at))
            count = count_in(content_of(corpus, at) if content is None else content)
            if count:
                found.append(FileMatches(at, count))
    return Scan(tuple(found), len(chosen))


def candidate_files(corpus: Corpus, required: Sequence[Clause]) -> NDArray[np.bool_] | None:
    """Return for each file whether a line of it may meet all clauses; None if every file may."""
    units = candidate_units(corpus, required)
    if units is None:
        return None
    files = np.zeros(len(corpus.files), bool)
    files[corpus.file_of[units]] = True
    return files


def candidate_units(corpus: Corpus, required: Sequence[Clause]) -> Positions | None:
    """Return the living units that hold the terms of all clauses, ascending; None if no clause has a term."""
    found: Positions | None = None
    for clause in required:
        held = _holding_any(corpus, clause)
        if held is not None:
            found = held if found is None else found[are_among(corpus, found, held)]
    return found


def _holding_any(corpus: Corpus, clause: Clause) -> Positions | None:
    """Return the units that hold the terms of one part of a clause; None if that is not known."""
    parts = [part.terms() for part in clause]
    if not all(parts):
        return None
    return _joined(corpus, [_holding_all(corpus, terms) for terms in parts])


def _holding_all(corpus: Corpus, terms: Sequence[tuple[str, ...]]) -> Positions:
    """Return the units that hold a term of each tuple."""
    postings = [[positions for positions, _ in corpus.postings_many(same)] for same in terms]
    rarest, *others = sorted(postings, key=lambda lists: sum(map(len, lists)))
    found = _joined(corpus, rarest)
    for lists in others:
        held = np.zeros(len(found), bool)
        for positions in lists:
            held |= are_among(corpus, found, positions)
        found = found[held]
    return found


def _joined(corpus: Corpus, lists: Sequence[Positions]) -> Positions:
    """Return the units of several lists, each once, ascending."""
    if len(lists) == 1:
        return lists[0]
    held = np.zeros(len(corpus.file_of), bool)
    for positions in lists:
        held[positions] = True
    return np.flatnonzero(held)


def are_among(corpus: Corpus, units: Positions, positions: Positions) -> NDArray[np.bool_]:
    """Return for each of some units whether it is in an ascending list."""
    if len(positions) < _FEW_TIMES * len(units):
        held = np.zeros(len(corpus.file_of), bool)
        held[positions] = True
        return held[units]
    places = np.minimum(np.searchsorted(positions, units), len(positions) - 1)
    are_equal: NDArray[np.bool_] = positions[places] == units
    return are_equal


def matching_lines(pattern: TextPattern, content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each matching line from 1, and where its first match starts and ends in the line,
    in bytes."""
    line, line_start, before = 1, 0, 0
    for start, end in pattern.spans(content):
        if start < before:
            continue  # on a line that was yielded
        line += content.count(b"\n", line_start, start)
        line_start = content.rfind(b"\n", 0, start) + 1
        yield line, start - line_start, end - line_start
        before = content.find(b"\n", end)
        before = len(content) if before < 0 else before
