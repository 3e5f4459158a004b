"""Which definitions of other files does each file use? Noted with its edges, read for all files at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from satchel.ids import NAME_KEY_BYTES, name_key

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

_ROW_BYTES = 2 * NAME_KEY_BYTES


def key_number(name: str) -> int:
    """Return the key of a name as the number that stands for it in `CrossUses.names`."""
    return int.from_bytes(name_key(name), "little")


class CrossUses(msgspec.Struct, frozen=True):
    """A row for each definition of another file that a file uses: the position of the file that uses, that of
    the file that defines, among all files by path, and the key of the name. Rows are by user, then by the
    path and the name of the definition."""

    users: NDArray[np.int64]
    definers: NDArray[np.int64]
    names: NDArray[np.uint64]

    @classmethod
    def of_parts(cls, paths: Sequence[str], parts: Sequence[bytes]) -> Self:
        """Return the rows of all files: their paths, ascending, and of each what `records.used_part` returns.
        A definition in a file that is gone is left out."""
        # Keys are padded to whole numbers, so that all of them are compared at once.
        keys = np.zeros((sum(map(len, parts)) // _ROW_BYTES, 2, 8), np.uint8)
        keys[:, :, :NAME_KEY_BYTES] = np.frombuffer(b"".join(parts), np.uint8).reshape(-1, 2, NAME_KEY_BYTES)
        defining, names = keys.view("<u8")[:, :, 0].T
        counts = np.fromiter(map(len, parts), np.int64, len(parts)) // _ROW_BYTES
        users = np.repeat(np.arange(len(paths)), counts)
        known = np.zeros((len(paths), 8), np.uint8)
        known[:, :NAME_KEY_BYTES] = np.frombuffer(b"".join(map(name_key, paths)), np.uint8).reshape(
            -1, NAME_KEY_BYTES
        )
        known_keys = known.view("<u8")[:, 0]
        order = np.argsort(known_keys, kind="stable")
        places = np.searchsorted(known_keys[order], defining)
        definers = np.append(order, -1)[places]
        found = np.append(known_keys, 0)[definers] == defining
        found &= definers >= 0
        return cls(users[found], definers[found], names[found])

    @classmethod
    def joined(cls, parts: Sequence[tuple[CrossUses, int]]) -> Self:
        """Return the rows of several indexes, each with its count of files, as of one index."""
        bases = np.cumsum([0, *(count for _, count in parts)]).tolist()
        moved = [
            (one.users + base, one.definers + base, one.names)
            for (one, _), base in zip(parts, bases, strict=False)
        ]
        none = np.zeros(0, np.int64)
        users, definers, names = zip((none, none, none.astype(np.uint64)), *moved, strict=True)
        return cls(np.concatenate(users), np.concatenate(definers), np.concatenate(names))

    def where(self, chosen: NDArray[np.bool_]) -> CrossUses:
        """Return the chosen rows."""
        return CrossUses(self.users[chosen], self.definers[chosen], self.names[chosen])
