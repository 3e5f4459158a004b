"""Which byte strings is a vocabulary made of, and which of them can occur in a text?

Byte-pair merging inside a text only ever asks for entries that are substrings of that text. An entry whose
every three bytes in a row stand somewhere in the text may be one; all others cannot. So a counter made from
that part of the vocabulary gives the very same tokens as one made from all of it, at a fraction of the cost.

The file: magic, number of entries, the length of each in one byte, the entries one after another by rank.
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Trigrams = NDArray[np.uint16]
    Known = NDArray[np.bool_]

DATA = Path(__file__).parent / "data"
HEADER = struct.Struct("<8sI")
MAGIC = b"satvocab"
TRIGRAM_SLOTS = 1 << 16  # a shared slot only lets needless entries in, and 64 kB stay in the cache
# A pack states its own size, so it is counted with one number, then with another: digits are alike here.
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


class Vocabulary(NamedTuple):
    """Entries by rank: the one of rank r is `joined[starts[r] : ends[r]]`."""

    joined: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    trigrams: Trigrams  # the slot of the three bytes that start at each byte of `joined`

    def all_ranks(self) -> dict[bytes, int]:
        """Every entry with its rank."""
        return self._ranks(range(len(self.ends)), self.starts, self.ends)

    def ranks_within(self, known: Known) -> dict[bytes, int]:
        """The entries that can occur in a text with these trigrams, and a few that cannot."""
        import numpy as np

        possible = np.ones(len(self.joined), np.bool_)
        possible[:-2] = known[self.trigrams]
        # the last two bytes of an entry start a trigram that runs into the next one and says nothing
        possible[self.ends - 1] = True
        possible[self.ends - 2] = True
        ranks = np.flatnonzero(np.logical_and.reduceat(possible, self.starts))
        return self._ranks(ranks.tolist(), self.starts[ranks], self.ends[ranks])

    def _ranks(
        self, ranks: range | list[int], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> dict[bytes, int]:
        spans = zip(starts.tolist(), ends.tolist(), ranks, strict=True)
        return {self.joined[start:end]: rank for start, end, rank in spans}


@cache
def load(name: str) -> Vocabulary:
    """The vocabulary that ships with the package under that name."""
    import numpy as np

    content = (DATA / f"{name}.bin").read_bytes()
    magic, count = HEADER.unpack_from(content)
    first = HEADER.size + count
    lengths = np.frombuffer(content, np.uint8, count, HEADER.size)
    ends = np.cumsum(lengths, dtype=np.int64)
    if magic != MAGIC or first + ends[-1] != len(content):
        raise ValueError(f"{name}.bin is not a whole vocabulary: {len(content)} bytes for {count} entries")
    joined = content[first:]
    return Vocabulary(joined, ends - lengths, ends, trigrams_of(joined))


def trigrams_of(content: bytes) -> Trigrams:
    """The slot of every three bytes in a row, any digit taken for any other."""
    import numpy as np

    values = np.frombuffer(content.translate(_DIGITS_ALIKE), np.uint8).astype(np.uint16)
    # odd factors far apart spread the common letters over all slots; 16 bits overflow on purpose
    first, second, third = np.uint16(40503), np.uint16(9973), np.uint16(257)
    trigrams: Trigrams = values[:-2] * first + values[1:-1] * second + values[2:] * third
    return trigrams


def trigrams_in_pieces(content: bytes) -> Trigrams:
    """Those that can stand in one piece of a text. In the patterns of all our vocabularies a line feed is
    followed by white space or a slash, or it ends the piece: where two lines meet nothing is merged."""
    import numpy as np

    values = np.frombuffer(content, np.uint8)
    printed = (values > ord(" ")) & (values < 0x7F) & (values != ord("/"))
    cut = (values[:-1] == ord("\n")) & printed[1:]
    trigrams: Trigrams = trigrams_of(content)[~(cut[:-1] | cut[1:])]
    return trigrams


def no_trigrams() -> Known:
    """What is known before the first text."""
    import numpy as np

    return np.zeros(TRIGRAM_SLOTS, np.bool_)
