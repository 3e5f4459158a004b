"""Count the terms of each unit, field by field, for many files at once.

A unit is what search scores: neighbouring small chunks, or a window of a long chunk. It is neither so small
that a stray word decides, nor so long that words drown. Tokens become numbers while the files are read; their
terms and counts are computed by one sort over the whole batch. A dictionary of counts for each unit would
take twice the time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from satchel.indexing.posting_run_builder import TermBatch, TermNumbers
from satchel.parsed import Parsed
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.terms import encoded_tokens, terms_of_token
from satchel.types import Chunk, ChunkKind

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_FIELDS = (BODY, COMMENT, NAME, STEM, FOLDER)
_SHIFTS = np.array([field.shift for field in _FIELDS], np.uint16)
_LIMITS = np.array([BODY.limit, COMMENT.limit, 1, 1, 1], np.uint16)  # names are counted once
_FIELD_BITS = 3  # bits of a sort key; enough for every field
_FIELD_MASK = (1 << _FIELD_BITS) - 1
_MAX_LENGTH = 65_535  # lengths are stored in 2 bytes
_MEMO_LIMIT = 200_000  # distinct tokens remembered per process, about 60 MB
_LEAST_UNIT_CHARS = 300  # a smaller unit is joined with its neighbour
_MOST_UNIT_CHARS = 1_600  # a longer chunk is scored window by window


class _TokenNumbers(dict[bytes, int]):
    """Maps a token to its number. The terms of token n are `terms[starts[n]:starts[n + 1]]`, as numbers of
    `vocabulary`. Almost every token of a text was met before, so this memo saves most of the time."""

    def __init__(self) -> None:
        self.vocabulary = TermNumbers()
        self.starts = array("I", [0])
        self.terms = array("I")

    def __missing__(self, token: bytes) -> int:
        number = self[token] = len(self)
        self.terms.extend(map(self.vocabulary.__getitem__, terms_of_token(token)))
        self.starts.append(len(self.terms))
        return number


_shared = _TokenNumbers()


def _process_tokens() -> _TokenNumbers:
    """Return the tokens met by this process so far, or an empty memo if they have become many. Never called
    inside a batch."""
    global _shared
    if len(_shared) > _MEMO_LIMIT:
        _shared = _TokenNumbers()
    return _shared


class TermCollector:
    """Counts the terms of units, field by field."""

    def __init__(self) -> None:
        self._known = _process_tokens()
        self._tokens = array("I")
        self._runs = array("I")  # the number of tokens of each field of each unit
        self._lines = array("I")

    def add(self, path: str, parsed: Parsed, lines: Sequence[str]) -> int:
        """Add the units of one file and return their number."""
        stem, folder = map(self._numbers, stem_and_folder(path))
        units = unit_lines(parsed.chunks, lines)
        starts = [start for start, _ in units]
        names: list[list[str]] = [[] for _ in units]
        for line, name in named_lines(parsed):
            names[bisect_right(starts, line) - 1].append(name)
        for unit, unit_names in zip(units, names, strict=True):
            for text in (*split_comments(unit, parsed.comments, lines), " ".join(unit_names)):
                self._add_text(text)
            for numbers in (stem, folder):
                self._tokens += numbers
                self._runs.append(len(numbers))
            self._lines.extend(unit)
        return len(units)

    def _numbers(self, text: str) -> array[int]:
        """Return the numbers of the tokens of a text."""
        return array("I", map(self._known.__getitem__, encoded_tokens(text)))

    def _add_text(self, text: str) -> None:
        """Add the tokens of one field of a unit."""
        found = encoded_tokens(text) if text else ()
        self._tokens.extend(map(self._known.__getitem__, found))
        self._runs.append(len(found))

    def batch(self) -> TermBatch:
        """Return the counts of everything added so far."""
        unit_count = len(self._runs) // len(_FIELDS)
        terms, cells = self._terms_in_cells(unit_count)
        counts = np.bincount(cells, minlength=unit_count << _FIELD_BITS)
        lengths = counts.reshape(unit_count, 1 << _FIELD_BITS)[:, :2]  # code and comments
        term_bits = len(self._known.vocabulary).bit_length()
        keys = (cells >> _FIELD_BITS).astype(np.int64) << term_bits
        keys |= terms
        keys <<= _FIELD_BITS
        keys |= cells & _FIELD_MASK
        postings, packed = _count_postings(keys)
        vocabulary, term_ids = self._renumber(postings & ((1 << term_bits) - 1))
        return TermBatch(
            vocabulary=vocabulary,
            term_ids=term_ids.tobytes(),
            packed=packed.tobytes(),
            sizes=np.bincount(postings >> term_bits, minlength=unit_count).tolist(),
            lengths=np.minimum(lengths, _MAX_LENGTH).astype("<u2").tobytes(),
            lines=self._lines.tobytes(),
        )

    def _terms_in_cells(self, unit_count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return every occurrence of a term, and the cell (unit and field) that it stands in."""
        tokens = np.frombuffer(self._tokens, np.int32)
        # Copies, because an array cannot grow while numpy views it.
        starts = np.array(self._known.starts, np.int32)
        terms = np.array(self._known.terms, np.int32)
        counts = np.diff(starts)[tokens]
        ends = np.cumsum(counts, dtype=np.int32)
        places = np.repeat(starts[tokens] - ends + counts, counts)
        places += np.arange(len(places), dtype=np.int32)
        cells = np.arange(unit_count << _FIELD_BITS, dtype=np.int32).reshape(unit_count, 1 << _FIELD_BITS)
        in_cells = np.repeat(cells[:, : len(_FIELDS)].ravel(), np.frombuffer(self._runs, np.int32))
        return terms[places], np.repeat(in_cells, counts)

    def _renumber(self, used: NDArray[np.int64]) -> tuple[list[str], NDArray[np.uint32]]:
        """Return the terms of this batch alone, and their numbers counted from 0."""
        met = np.zeros(len(self._known.vocabulary), bool)
        met[used] = True
        names = list(self._known.vocabulary)
        vocabulary = [names[number] for number in np.flatnonzero(met).tolist()]
        return vocabulary, (np.cumsum(met, dtype=np.uint32) - np.uint32(1))[used]


def _count_postings(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """Turn keys of (unit, term, field) into the distinct keys of (unit, term), each with its packed
    counts."""
    keys.sort()
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(starts, append=len(keys))
    distinct = keys[starts]
    fields = distinct & _FIELD_MASK
    weights = np.minimum(counts, _LIMITS[fields]).astype(np.uint16) << _SHIFTS[fields]
    postings = distinct >> _FIELD_BITS
    starts = np.flatnonzero(np.diff(postings, prepend=-1))
    if not len(starts):
        return postings, weights
    return postings[starts], np.add.reduceat(weights, starts, dtype=np.uint16)


def stem_and_folder(path: str) -> tuple[str, str]:
    """Return the name of a file up to its first dot, and its folder."""
    folder, _, name = path.rpartition("/")
    return name.partition(".")[0] or name, folder


def named_lines(parsed: Parsed) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each definition. A section of a document is named by its whole title
    path."""
    for symbol in parsed.symbols:
        if symbol.kind is not ChunkKind.SECTION:
            yield symbol.start_line, symbol.name
    for chunk in parsed.chunks:
        if chunk.kind is ChunkKind.SECTION:
            yield chunk.start_line, " ".join(chunk.title_path)


def split_comments(
    unit: tuple[int, int], comments: Sequence[tuple[int, int]], lines: Sequence[str]
) -> tuple[str, str]:
    """Return the text of a unit without its comment lines, and the text of those lines."""
    first_line, last_line = unit
    first = max(0, bisect_right(comments, (first_line, 0)) - 1)
    comment_lines: list[str] = []
    body_lines: list[str] = []
    cursor = first_line
    for start, end in comments[first:]:
        if start > last_line:
            break
        start, end = max(start, cursor), min(end, last_line)
        if end >= start:
            body_lines += lines[cursor - 1 : start - 1]
            comment_lines += lines[start - 1 : end]
            cursor = end + 1
    body_lines += lines[cursor - 1 : last_line]
    return "".join(body_lines), "".join(comment_lines)


def unit_lines(chunks: Sequence[Chunk], lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and the last line of each unit of a file, in order. No line is in two units."""
    units: list[tuple[int, int]] = []
    first = last = size = 0
    for chunk in chunks:
        length = len(chunk.text)
        if first and (size >= _LEAST_UNIT_CHARS or size + length > _MOST_UNIT_CHARS):
            units.append((first, last))
            first = size = 0
        if length > _MOST_UNIT_CHARS:
            units.extend(_windows(chunk, lines))
            continue
        first = first or chunk.start_line
        last = chunk.end_line
        size += length
    if first:
        units.append((first, last))
    return units


def _windows(chunk: Chunk, lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return a long chunk in windows of at most the size of a unit."""
    windows = []
    first, size = chunk.start_line, 0
    for number in range(chunk.start_line, chunk.end_line + 1):
        length = len(lines[number - 1])
        if number > first and size + length > _MOST_UNIT_CHARS:
            windows.append((first, number - 1))
            first, size = number, 0
        size += length
    windows.append((first, chunk.end_line))
    return windows
