"""Number the distinct tokens of texts, all tokens of a text at once.

A text has many more tokens than different ones, and a dictionary asked for each of them takes most of the
time of counting terms. Here a token of up to 32 bytes is one, two or four whole numbers of 8 bytes, and
tables in arrays find the numbers of thousands of tokens in a few steps: a fifth of the time. Tokens are
compared whole, so that two tokens never share a number.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING

import numpy as np

from satchel.indexing.posting_run_builder import TermNumbers
from satchel.terms import terms_of_tokens

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_WORD = 8  # bytes that are compared as one whole number
_WIDTHS = (1, 2, 4)  # words; the tokens of a table fit in so many. 997 of 1,000 tokens fit in the widest
_PADDING = b" " * (_WORD * _WIDTHS[-1])  # what may be read after the last token
_BLANK = 32
_EMPTY = -1
_FIRST_SLOTS = 16  # bits of the number of slots of a new table
_TOKENS_AT_ONCE = 1 << 14  # half of the slots of a new table, which they may all need
# The bytes of a word that belong to a token of 0 … 8 bytes. Tokens hold no zero byte, so that no two of them
# become the same words.
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], np.uint64)
# Drawn anew in each process, so that nobody can write tokens that all begin their search in the same slot.
_FACTORS = np.frombuffer(os.urandom(8 * _WIDTHS[-1]), np.uint64) | np.uint64(1)


class TokenNumbers:
    """Numbers tokens in the order in which they are met. The terms of token n are
    `terms[starts[n]:starts[n + 1]]`, as numbers of `vocabulary`."""

    def __init__(self) -> None:
        self.vocabulary = TermNumbers()
        self.starts = array("I", [0])
        self.terms = array("I")
        self._tables = tuple(_TokenTable(width) for width in _WIDTHS)
        self._longest: dict[bytes, int] = {}  # tokens that no table takes

    def __len__(self) -> int:
        return len(self.starts) - 1

    def numbers(
        self, text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the numbers of the tokens that begin at `starts`. The text goes on for 32 bytes after the
        last of them."""
        found = np.empty(len(starts), np.int32)
        least = 0
        for table in self._tables:
            most = table.width * _WORD
            of_table = np.flatnonzero((lengths > least) & (lengths <= most))
            for first in range(0, len(of_table), _TOKENS_AT_ONCE):
                at = of_table[first : first + _TOKENS_AT_ONCE]
                found[at] = self._find(table, text, starts[at], lengths[at])
            least = most
        for place in np.flatnonzero(lengths > least).tolist():
            token = text[starts[place] : starts[place] + lengths[place]]
            if token not in self._longest:
                self._longest[token] = len(self)
                self._add([token])
            found[place] = self._longest[token]
        return found

    def _find(
        self, table: _TokenTable, text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the numbers of tokens of one table, and number those that are new."""
        entries, new = table.find(_words(text, starts, lengths, table.width))
        if len(new):
            ends = (starts[new] + lengths[new]).tolist()
            table.numbers.extend(range(len(self), len(self) + len(new)))
            self._add([text[start:end] for start, end in zip(starts[new].tolist(), ends, strict=True)])
        return np.frombuffer(table.numbers, np.int32)[entries]

    def _add(self, tokens: Sequence[bytes]) -> None:
        """Give the next numbers to tokens that are new."""
        found = terms_of_tokens(tokens)
        self.starts.extend(islice(accumulate(map(len, found), initial=len(self.terms)), 1, None))
        self.terms.extend(map(self.vocabulary.__getitem__, chain.from_iterable(found)))


class _TokenTable:
    """A hash table of tokens of up to `width` words. A slot that is taken leads to the next one; at least
    half of the slots are empty."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.numbers = array("i")  # the number of each token; filled in by the owner
        self._count = 0
        self._bits = _FIRST_SLOTS
        self._slots = np.full(1 << self._bits, _EMPTY, np.int32)
        self._tokens = np.zeros((width, 1 << self._bits >> 1), np.uint64)

    def find(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the entry of each token, and which tokens are the first with a new entry, in the order of
        the entries."""
        self._make_room(words.shape[1])
        slots = self._first_slots(words)
        entries = self._slots[slots]
        first_new = []
        open_ones = np.flatnonzero(~self._are_at(entries, words))
        while len(open_ones):
            at, wanted = slots[open_ones], words[:, open_ones]
            first_new.append(open_ones[self._take_empty(at, wanted)])
            entries[open_ones] = reached = self._slots[at]
            open_ones = open_ones[~self._are_at(reached, wanted)]
            slots[open_ones] = (slots[open_ones] + 1) & (len(self._slots) - 1)
        return entries, np.concatenate(first_new) if first_new else open_ones

    def _are_at(self, entries: NDArray[np.int32], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which entries hold their token. An empty slot, which reads the last entry, never does."""
        same: NDArray[np.bool_] = entries != _EMPTY
        for column, own in zip(self._tokens, words, strict=True):
            same &= column[entries] == own
        return same

    def _take_empty(self, slots: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Give each empty slot to one of the tokens that reach it; return these tokens, in the order of their
        new entries."""
        able = np.flatnonzero(self._slots[slots] == _EMPTY)
        self._slots[slots[able]] = able  # of equal slots, the last token stays
        taken: NDArray[np.int64] = able[self._slots[slots[able]] == able]
        new = np.arange(self._count, self._count + len(taken), dtype=np.int32)
        self._slots[slots[taken]] = new
        self._tokens[:, new] = words[:, taken]
        self._count += len(taken)
        return taken

    def _first_slots(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the slots where the search for tokens begins: the top bits of their words, each multiplied
        by its factor and added up."""
        mixed = words[0] * _FACTORS[0]
        for row in range(1, self.width):
            mixed += words[row] * _FACTORS[row]
        slots: NDArray[np.int64] = (mixed >> np.uint64(64 - self._bits)).astype(np.int64)
        return slots

    def _make_room(self, count: int) -> None:
        """Make the table so large that half of it stays empty after so many new tokens."""
        if self._count + count <= len(self._slots) // 2:
            return
        known = self._tokens[:, : self._count]
        self._bits += 1
        self._slots = np.full(1 << self._bits, _EMPTY, np.int32)
        self._tokens = np.zeros((self.width, 1 << self._bits >> 1), np.uint64)
        self._count = 0
        for first in range(0, known.shape[1], _TOKENS_AT_ONCE):
            self._put_back(known[:, first : first + _TOKENS_AT_ONCE])

    def _put_back(self, words: NDArray[np.uint64]) -> None:
        """Enter tokens that are all different, keeping their order."""
        entries = np.arange(self._count, self._count + words.shape[1], dtype=np.int32)
        self._tokens[:, entries] = words
        self._count += len(entries)
        slots = self._first_slots(words)
        while len(entries):
            able = np.flatnonzero(self._slots[slots] == _EMPTY)
            self._slots[slots[able]] = entries[able]
            left = self._slots[slots] != entries
            entries, slots = entries[left], (slots[left] + 1) & (len(self._slots) - 1)


def _words(
    text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64], width: int
) -> NDArray[np.uint64]:
    """Return tokens as `width` rows of whole numbers, one column for each token."""
    # A word at every byte of the text, without a copy.
    at_every_byte = np.ndarray((len(text) - _WORD + 1,), "<u8", text, strides=(1,))
    rows = np.empty((width, len(starts)), np.uint64)
    for row in range(width):
        inside = np.clip(lengths - row * _WORD, 0, _WORD)
        rows[row] = at_every_byte[starts + row * _WORD] & _MASKS[inside]
    return rows


def find_tokens(separated: bytes) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Return a text, which starts with a blank and has blanks between its tokens, as `TokenNumbers` takes it,
    and where its tokens begin and how long they are."""
    text = separated + _PADDING
    is_token = np.frombuffer(text, np.uint8) != _BLANK
    borders = np.flatnonzero(is_token[1:] != is_token[:-1])
    return text, borders[::2] + 1, borders[1::2] - borders[::2]
