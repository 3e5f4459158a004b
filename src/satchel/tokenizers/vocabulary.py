"""Which byte strings is a vocabulary made of, and which of them can occur in a text?

Byte-pair merging inside a text only ever asks for entries that are substrings of that text. An entry whose
every four bytes in a row stand somewhere in the text may be one; all others cannot. So a counter made from
that part of the vocabulary gives the very same tokens as one made from all of it, at a fraction of the cost.

The file: magic, number of entries, where each entry starts and where the last ends, the slot of the first
bytes of each, the entries one after another by rank. It is mapped: most of it is never looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Slots = NDArray[np.uint32]
    Known = NDArray[np.bool_]

DATA = Path(__file__).parent / "data"
HEADER = struct.Struct("<8sI")
MAGIC = b"satvoca2"
# Four bytes in a row have a slot in a table, three in a row one in a smaller table behind it. A shared slot
# only lets needless entries in.
_FOURS, _THREES = 1 << 20, 1 << 16
_ALWAYS = _FOURS + _THREES  # the slot of entries that are too short to be looked for
APART = "0"  # between texts: no piece goes on across a digit
_NUMBER = "<u4"
_LOOKED_FOR = (1 << 31, 1, 3, 5)  # where four bytes of an entry start, at most its last; its first are known
_SPREAD = 2_654_435_761  # an odd factor that carries every bit of a word into its upper ones
# A pack states its own size, so it is counted with one number, then with another: digits are alike here.
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


class _Kind(IntEnum):
    """What the patterns tell apart, as far as it can be seen in one byte."""

    OTHER = 0
    LETTER = 1
    DIGIT = 2
    APOSTROPHE = 3
    SLASH = 4
    SIGN = 5
    SPACE = 6
    LINE_FEED = 7


def _kind(byte: int) -> _Kind:
    character = chr(byte) if byte < 0x80 else ""
    if character.isalnum():
        return _Kind.DIGIT if character.isdigit() else _Kind.LETTER
    special = {"'": _Kind.APOSTROPHE, "/": _Kind.SLASH, " ": _Kind.SPACE, "\n": _Kind.LINE_FEED}
    return special.get(character, _Kind.SIGN if character.isprintable() and character else _Kind.OTHER)


_KINDS = bytes(map(_kind, range(256)))


class BytePairVocabulary:
    """Entries by rank: the one of rank r is `joined[starts[r] : starts[r + 1]]`."""

    def __init__(self, content: bytes | mmap) -> None:
        import numpy as np

        magic, count = HEADER.unpack_from(content) if len(content) >= HEADER.size else (b"", 0)
        self._first = HEADER.size + (2 * count + 1) * np.dtype(_NUMBER).itemsize
        if magic != MAGIC or len(content) < self._first:
            raise ValueError("no vocabulary")
        self._content = content
        self._starts = np.frombuffer(content, _NUMBER, count + 1, HEADER.size)
        self._slots = np.frombuffer(content, _NUMBER, count, HEADER.size + self._starts.nbytes)
        if self._first + self._starts[-1] != len(content):
            raise ValueError(f"{len(content)} bytes for {count} entries")
        # the four bytes from each byte on; a view, one byte further each
        self._words: Words = np.ndarray(
            (max(0, len(content) - self._first - 3),), np.dtype(_NUMBER), content, self._first, (1,)
        )

    def all_ranks(self) -> dict[bytes, int]:
        """Every entry with its rank."""
        import numpy as np

        return self._ranks(np.arange(len(self._slots)))

    def ranks_within(self, known: Known) -> dict[bytes, int]:
        """The entries that can occur in a text with these slots, and a few that cannot."""
        import numpy as np

        ranks = np.flatnonzero(known[self._slots])
        for offset in _LOOKED_FOR:  # ever fewer are left
            starts = self._starts[ranks].astype(np.int64)
            places = np.minimum(starts + offset, self._starts[ranks + 1].astype(np.int64) - 4)
            longer = np.flatnonzero(places > starts)
            unknown = ~known[_fours(_alike(self._words[places[longer]]))]
            ranks = np.delete(ranks, longer[unknown])
        return self._ranks(ranks)

    def _ranks(self, ranks: NDArray[np.int64]) -> dict[bytes, int]:
        starts = (self._starts[ranks] + self._first).tolist()
        ends = (self._starts[ranks + 1] + self._first).tolist()
        content = self._content
        return {
            content[start:end]: rank for start, end, rank in zip(starts, ends, ranks.tolist(), strict=True)
        }


@cache
def load(name: str) -> BytePairVocabulary:
    """The vocabulary that ships with the package under that name."""
    try:
        with (DATA / f"{name}.bin").open("rb") as file:
            return BytePairVocabulary(mmap(file.fileno(), 0, access=ACCESS_READ))
    except ValueError as error:
        raise ValueError(f"{name}.bin is not a whole vocabulary: {error}") from error


def packed(entries: Sequence[bytes]) -> bytes:
    """The content of the file for entries by rank."""
    import numpy as np

    starts = np.cumsum([0, *map(len, entries)])
    joined = b"".join(entries)
    words = _words(joined)[starts[:-1]]
    lengths = np.diff(starts)
    slots = np.where(lengths > 3, _fours(words), np.where(lengths == 3, _threes(words), _ALWAYS))
    header = HEADER.pack(MAGIC, len(entries))
    return header + starts.astype(_NUMBER).tobytes() + slots.astype(_NUMBER).tobytes() + joined


def _words(content: bytes) -> Words:
    """The four bytes from each byte on as one number, any digit taken for any other, blanks after the end."""
    import numpy as np

    alike = content.translate(_DIGITS_ALIKE) + b"   "
    # a view, one byte further each: numpy copies what it takes of it
    words: Words = np.ndarray((len(content),), np.dtype("<u4"), alike, strides=(1,))
    return words


def _alike(words: Words) -> Words:
    """The same, of words of raw bytes."""
    import numpy as np

    table = np.frombuffer(bytes(range(256)).translate(_DIGITS_ALIKE), np.uint8)
    return table[words.view(np.uint8)].view(_NUMBER)


def _fours(words: Words) -> Slots:
    import numpy as np

    return (words * np.uint32(_SPREAD)) >> np.uint32(12)


def _threes(words: Words) -> Slots:
    import numpy as np

    return (((words << np.uint32(8)) * np.uint32(_SPREAD)) >> np.uint32(16)) + np.uint32(_FOURS)


def slots_of(content: bytes) -> Slots:
    """The slots of every four and every three bytes in a row."""
    import numpy as np

    words = _words(content)
    return np.concatenate((_fours(words[:-3]), _threes(words[:-2])))


def slots_in_pieces(content: bytes) -> Slots:
    """Those that can stand in one piece of a text."""
    import numpy as np

    kinds = np.frombuffer(content.translate(_KINDS), np.uint8)
    cut = _never_together()[kinds[:-1] * np.uint8(len(_Kind)) + kinds[1:]]
    inside = ~(cut[:-1] | cut[1:])
    words = _words(content)
    return np.concatenate((_fours(words[:-3])[inside[:-1] & inside[1:]], _threes(words[:-2])[inside]))


@cache
def _never_together() -> Known:
    """For each two kinds in a row, whether no piece of any of our patterns holds both: digits are alone;
    nothing but an apostrophe follows a letter; nothing but white space or a slash follows a line feed."""
    import numpy as np

    never = np.zeros((len(_Kind), len(_Kind)), np.bool_)
    known = [kind for kind in _Kind if kind not in (_Kind.OTHER, _Kind.DIGIT)]
    never[known, _Kind.DIGIT] = never[_Kind.DIGIT, known] = True
    never[_Kind.LETTER, [_Kind.SLASH, _Kind.SIGN, _Kind.SPACE, _Kind.LINE_FEED]] = True
    never[_Kind.LINE_FEED, [_Kind.LETTER, _Kind.APOSTROPHE, _Kind.SIGN]] = True
    return never.ravel()


def no_slots() -> Known:
    """What is known before the first text."""
    import numpy as np

    known = np.zeros(_ALWAYS + 1, np.bool_)
    known[_ALWAYS] = True
    return known
