"""Load a byte-pair vocabulary, and find the entries that can occur in a text.

Byte-pair merging inside a text only ever looks up substrings of that text. An entry can be a substring only
if every four consecutive bytes of it occur in the text. So an encoder built from the entries that pass this
test returns exactly the tokens of an encoder built from all of them, at a fraction of the cost.

The file holds, in this order: magic number, number of entries, the start of each entry and the end of the
last one, the slot of the first bytes of each entry, and the entries themselves by rank. It is memory-mapped,
and most of it is never read.
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
# Four consecutive bytes have a slot in a hash table, three consecutive bytes one in a smaller table after it.
# A collision only lets needless entries in.
_FOUR_BYTE_SLOTS, _THREE_BYTE_SLOTS = 1 << 20, 1 << 16
_ALWAYS_SLOT = _FOUR_BYTE_SLOTS + _THREE_BYTE_SLOTS  # the slot of entries of fewer than three bytes
SEPARATOR = "0"  # between joined texts: no piece continues across a digit
_NUMBER = "<u4"
# Offsets in an entry at which four bytes are checked, at most its last four. The first four are checked by
# the slot that is stored with the entry.
_LOOKED_FOR = (1 << 31, 1, 3, 5)
_HASH_FACTOR = 2_654_435_761  # an odd factor, so that every bit of a word affects the upper bits
# A pack states its own size, so it is counted with one number, then with another. All digits count as equal
# here, so that both need the same entries.
_EQUAL_DIGITS = bytes.maketrans(b"123456789", b"000000000")


class _ByteClass(IntEnum):
    """The classes of bytes that the patterns of all vocabularies tell apart."""

    OTHER = 0
    LETTER = 1
    DIGIT = 2
    APOSTROPHE = 3
    SLASH = 4
    SIGN = 5
    SPACE = 6
    LINE_FEED = 7


def _byte_class(byte: int) -> _ByteClass:
    """Return the class of a byte."""
    character = chr(byte) if byte < 0x80 else ""
    if character.isalnum():
        return _ByteClass.DIGIT if character.isdigit() else _ByteClass.LETTER
    special = {
        "'": _ByteClass.APOSTROPHE,
        "/": _ByteClass.SLASH,
        " ": _ByteClass.SPACE,
        "\n": _ByteClass.LINE_FEED,
    }
    return special.get(
        character, _ByteClass.SIGN if character.isprintable() and character else _ByteClass.OTHER
    )


_BYTE_CLASSES = bytes(map(_byte_class, range(256)))


class BytePairVocabulary:
    """Entries by rank: the entry of rank r is `joined[starts[r] : starts[r + 1]]`."""

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
        # The four bytes from each byte on: a view with a stride of one byte.
        self._words: Words = np.ndarray(
            (max(0, len(content) - self._first - 3),), np.dtype(_NUMBER), content, self._first, (1,)
        )

    def all_ranks(self) -> dict[bytes, int]:
        """Return every entry with its rank."""
        import numpy as np

        return self._ranks(np.arange(len(self._slots)))

    def ranks_within(self, known: Known) -> dict[bytes, int]:
        """Return the entries that can occur in a text with these slots, and a few that cannot."""
        import numpy as np

        ranks = np.flatnonzero(known[self._slots])
        for offset in _LOOKED_FOR:  # each step leaves fewer candidates
            starts = self._starts[ranks].astype(np.int64)
            places = np.minimum(starts + offset, self._starts[ranks + 1].astype(np.int64) - 4)
            longer = np.flatnonzero(places > starts)
            unknown = ~known[_four_byte_slots(_with_equal_digits(self._words[places[longer]]))]
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
    """Return the vocabulary that ships with the package under that name."""
    try:
        with (DATA / f"{name}.bin").open("rb") as file:
            return BytePairVocabulary(mmap(file.fileno(), 0, access=ACCESS_READ))
    except ValueError as error:
        raise ValueError(f"{name}.bin is not a whole vocabulary: {error}") from error


def packed(entries: Sequence[bytes]) -> bytes:
    """Return the content of the file for entries given by rank."""
    import numpy as np

    starts = np.cumsum([0, *map(len, entries)])
    joined = b"".join(entries)
    words = _words(joined)[starts[:-1]]
    lengths = np.diff(starts)
    slots = np.where(
        lengths > 3, _four_byte_slots(words), np.where(lengths == 3, _three_byte_slots(words), _ALWAYS_SLOT)
    )
    header = HEADER.pack(MAGIC, len(entries))
    return header + starts.astype(_NUMBER).tobytes() + slots.astype(_NUMBER).tobytes() + joined


def _words(content: bytes) -> Words:
    """Return the four bytes from each byte on as one number. All digits count as equal; blanks follow the
    end."""
    import numpy as np

    alike = content.translate(_EQUAL_DIGITS) + b"   "
    # A view with a stride of one byte; numpy copies what it reads from it.
    words: Words = np.ndarray((len(content),), np.dtype("<u4"), alike, strides=(1,))
    return words


def _with_equal_digits(words: Words) -> Words:
    """Return words of raw bytes with all digits made equal."""
    import numpy as np

    table = np.frombuffer(bytes(range(256)).translate(_EQUAL_DIGITS), np.uint8)
    return table[words.view(np.uint8)].view(_NUMBER)


def _four_byte_slots(words: Words) -> Slots:
    """Return the slots of words of four bytes."""
    import numpy as np

    return (words * np.uint32(_HASH_FACTOR)) >> np.uint32(12)


def _three_byte_slots(words: Words) -> Slots:
    """Return the slots of the first three bytes of words."""
    import numpy as np

    return (((words << np.uint32(8)) * np.uint32(_HASH_FACTOR)) >> np.uint32(16)) + np.uint32(
        _FOUR_BYTE_SLOTS
    )


def slots_of(content: bytes) -> Slots:
    """Return the slots of every four and every three consecutive bytes."""
    import numpy as np

    words = _words(content)
    return np.concatenate((_four_byte_slots(words[:-3]), _three_byte_slots(words[:-2])))


def slots_in_pieces(content: bytes) -> Slots:
    """Return the slots of every four and three consecutive bytes that can stand in one piece of a text."""
    import numpy as np

    kinds = np.frombuffer(content.translate(_BYTE_CLASSES), np.uint8)
    cut = _never_together()[kinds[:-1] * np.uint8(len(_ByteClass)) + kinds[1:]]
    inside = ~(cut[:-1] | cut[1:])
    words = _words(content)
    return np.concatenate(
        (_four_byte_slots(words[:-3])[inside[:-1] & inside[1:]], _three_byte_slots(words[:-2])[inside])
    )


@cache
def _never_together() -> Known:
    """Return for each pair of byte classes whether no piece of any of our patterns contains both in a row:
    digits are alone; nothing but an apostrophe follows a letter; nothing but white space or a slash follows a
    line feed."""
    import numpy as np

    never = np.zeros((len(_ByteClass), len(_ByteClass)), np.bool_)
    known = [kind for kind in _ByteClass if kind not in (_ByteClass.OTHER, _ByteClass.DIGIT)]
    never[known, _ByteClass.DIGIT] = never[_ByteClass.DIGIT, known] = True
    never[_ByteClass.LETTER, [_ByteClass.SLASH, _ByteClass.SIGN, _ByteClass.SPACE, _ByteClass.LINE_FEED]] = (
        True
    )
    never[_ByteClass.LINE_FEED, [_ByteClass.LETTER, _ByteClass.APOSTROPHE, _ByteClass.SIGN]] = True
    return never.ravel()


def no_slots() -> Known:
    """Return the slots that are known before the first text."""
    import numpy as np

    known = np.zeros(_ALWAYS_SLOT + 1, np.bool_)
    known[_ALWAYS_SLOT] = True
    return known
