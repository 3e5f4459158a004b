"""Count the terms of each unit, field by field, for many files at once.

A unit is what search scores: neighbouring small chunks, or a window of a long chunk. It is neither so small
that a stray word decides, nor so long that words drown. The texts of a batch become one text, in which each
field of a unit is a range of bytes. Its tokens become numbers, and their terms and counts are computed by one
sort, all in arrays: steps for each token or a dictionary for each unit would take several times as long.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from satchel.indexing.posting_run_builder import TermBatch
from satchel.indexing.token_numbers import TokenNumbers, find_tokens
from satchel.parsed import Parsed
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.terms import separate_tokens
from satchel.types import Chunk, ChunkKind

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

# In the order of their numbers; a token of a comment has the number after that of the body.
_FIELDS = (BODY, COMMENT, NAME, STEM, FOLDER)
_IN_BODY, _, _IN_NAME, _IN_STEM, _IN_FOLDER = range(len(_FIELDS))
_SHIFTS = np.array([field.shift for field in _FIELDS], np.uint16)
_LIMITS = np.array([BODY.limit, COMMENT.limit, 1, 1, 1], np.uint16)  # names are counted once
_FIELD_BITS = 3  # bits of a sort key; enough for every field
_FIELD_MASK = (1 << _FIELD_BITS) - 1
_MAX_LENGTH = 65_535  # lengths are stored in 2 bytes
_MEMO_LIMIT = 200_000  # distinct tokens remembered per process, about 40 MB
_LEAST_UNIT_CHARS = 300  # a smaller unit is joined with its neighbour
_MOST_UNIT_CHARS = 1_600  # a longer chunk is scored window by window


_shared = TokenNumbers()


def _process_tokens() -> TokenNumbers:
    """Return the tokens met by this process so far, or an empty memo if they have become many. Never called
    inside a batch."""
    global _shared
    if len(_shared) > _MEMO_LIMIT:
        _shared = TokenNumbers()
    return _shared


class TermCollector:
    """Counts the terms of units, field by field. A cell is one field of one unit."""

    def __init__(self) -> None:
        self._known = _process_tokens()
        self._texts = [b" "]
        self._size = 1  # of all texts, in bytes
        # Ranges of bytes, each with the cell of its tokens.
        self._starts, self._ends, self._cells = array("I"), array("I"), array("I")
        self._comment_starts, self._comment_ends = array("I"), array("I")
        self._lines = array("I")

    def add(self, path: str, parsed: Parsed, lines: Sequence[str]) -> int:
        """Add the units of one file and return their number."""
        units = unit_lines(parsed.chunks, lines)
        if not units:
            return 0
        first = len(self._lines) // 2
        cells = range(first << _FIELD_BITS, (first + len(units)) << _FIELD_BITS, 1 << _FIELD_BITS)
        bounds = self._append(lines)
        firsts = [start for start, _ in units]
        self._add_ranges(cells, [bounds[line - 1] for line in firsts], [bounds[line] for _, line in units])
        self._comment_starts.extend([bounds[start - 1] for start, _ in parsed.comments])
        self._comment_ends.extend([bounds[end] for _, end in parsed.comments])
        names = list(named_lines(parsed))
        bounds = self._append([f"{name} " for _, name in names])
        of_names = [cells[bisect_right(firsts, line) - 1] | _IN_NAME for line, _ in names]
        self._add_ranges(of_names, bounds[:-1], bounds[1:])
        bounds = self._append([f"{text} " for text in stem_and_folder(path)])
        for field, (start, end) in zip((_IN_STEM, _IN_FOLDER), pairwise(bounds), strict=True):
            in_field = range(cells.start | field, cells.stop, cells.step)
            self._add_ranges(in_field, repeat(start, len(units)), repeat(end, len(units)))
        self._lines.extend(chain.from_iterable(units))
        return len(units)

    def _append(self, texts: Sequence[str]) -> list[int]:
        """Append texts to those of the batch; return where each of them starts, and where the last ends."""
        joined = "".join(texts)
        encoded = joined.encode("utf-8", "surrogatepass")
        same_size = len(encoded) == len(joined)
        parts = texts if same_size else [text.encode("utf-8", "surrogatepass") for text in texts]
        bounds = list(accumulate(map(len, parts), initial=self._size))
        self._texts += (encoded, b" ")
        self._size = bounds[-1] + 1
        return bounds

    def _add_ranges(self, cells: Iterable[int], starts: Iterable[int], ends: Iterable[int]) -> None:
        """Add ranges of bytes whose tokens stand in these cells."""
        self._cells.extend(cells)
        self._starts.extend(starts)
        self._ends.extend(ends)

    def batch(self) -> TermBatch:
        """Return the counts of everything added so far."""
        unit_count = len(self._lines) // 2
        terms, cells = self._terms_in_cells(*self._tokens_in_cells())
        counts = np.bincount(cells, minlength=unit_count << _FIELD_BITS)
        lengths = counts.reshape(unit_count, 1 << _FIELD_BITS)[:, :2]  # code and comments
        vocabulary, term_ids = self._renumber(terms)
        term_bits = len(vocabulary).bit_length()
        postings, packed = _count_postings(_sort_keys(term_ids, cells, unit_count, term_bits))
        return TermBatch(
            vocabulary=vocabulary,
            term_ids=(postings & ((1 << term_bits) - 1)).astype(np.uint32).tobytes(),
            packed=packed.tobytes(),
            sizes=np.bincount(postings >> term_bits, minlength=unit_count).tolist(),
            lengths=np.minimum(lengths, _MAX_LENGTH).astype("<u2").tobytes(),
            lines=self._lines.tobytes(),
        )

    def _tokens_in_cells(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return every token of every cell, as its number, and the cell that it stands in."""
        text, starts, lengths = find_tokens(separate_tokens(b"".join(self._texts)))
        numbers = self._known.numbers(text, starts, lengths)
        first = np.searchsorted(starts, np.array(self._starts))
        counts = np.searchsorted(starts, np.array(self._ends)) - first
        places = _joined_ranges(first, counts)
        cells = np.repeat(np.array(self._cells, np.int32), counts)
        cells += self._in_comments(starts)[places]
        return numbers[places], cells

    def _in_comments(self, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the tokens that start there are in comments."""
        opened = np.bincount(np.searchsorted(starts, np.array(self._comment_starts)), minlength=len(starts))
        closed = np.bincount(np.searchsorted(starts, np.array(self._comment_ends)), minlength=len(starts))
        return np.cumsum(opened[: len(starts)] - closed[: len(starts)]) > 0

    def _terms_in_cells(
        self, tokens: NDArray[np.int32], cells: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return every term of tokens, and the cell that it stands in."""
        # Copies, because an array cannot grow while numpy views it.
        starts = np.array(self._known.starts, np.int32)
        terms = np.array(self._known.terms, np.int32)
        counts = np.diff(starts)[tokens]
        return terms[_joined_ranges(starts[tokens], counts)], np.repeat(cells, counts)

    def _renumber(self, used: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int32]]:
        """Return the terms of this batch alone, and their numbers counted from 0."""
        names = self._known.vocabulary.names
        met = np.zeros(len(names), bool)
        met[used] = True
        vocabulary = [names[number] for number in np.flatnonzero(met).tolist()]
        return vocabulary, (np.cumsum(met, dtype=np.int32) - 1)[used]


def _sort_keys(
    terms: NDArray[np.int32], cells: NDArray[np.int32], unit_count: int, term_bits: int
) -> NDArray[Any]:
    """Return a key of (unit, term, field) for each term in its cell."""
    # Most batches fit in 32 bits, which are sorted in half the time of 64.
    bits = unit_count.bit_length() + term_bits + _FIELD_BITS
    keys: NDArray[Any] = (cells >> _FIELD_BITS).astype(np.uint32 if bits <= 32 else np.uint64)
    keys <<= term_bits
    keys |= terms.astype(keys.dtype)
    keys <<= _FIELD_BITS
    keys |= (cells & _FIELD_MASK).astype(keys.dtype)
    return keys


def _joined_ranges(starts: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of ranges, one range after the other: `counts[i]` numbers from `starts[i]` on."""
    before = np.cumsum(counts, dtype=starts.dtype) - counts
    joined = np.repeat(starts - before, counts)
    joined += np.arange(len(joined), dtype=joined.dtype)
    return joined


def _count_postings(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Turn keys of (unit, term, field) into the distinct keys of (unit, term), each with its packed
    counts."""
    keys.sort()
    starts = _run_starts(keys)
    counts = np.diff(starts, append=len(keys))
    distinct = keys[starts]
    fields = distinct & _FIELD_MASK
    weights = np.minimum(counts, _LIMITS[fields]).astype(np.uint16) << _SHIFTS[fields]
    postings = distinct >> _FIELD_BITS
    starts = _run_starts(postings)
    if not len(starts):
        return postings, weights
    return postings[starts], np.add.reduceat(weights, starts, dtype=np.uint16)


def _run_starts(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each run of equal values starts."""
    is_new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)


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
