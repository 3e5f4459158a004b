"""Which definitions of other files does each file use? Noted with its edges, read for all files at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np

from satchel.ids import NAME_KEY_BYTES, name_key

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray


def key_number(name: str) -> int:
    """Return the key of a name as the number that stands for it in `CrossUses.names`."""
    return int.from_bytes(name_key(name), "little")


def run_starts(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return where a row differs from the one before in one of some columns; the first row does."""
    differs = np.zeros(len(columns[0]), bool)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


class CrossUses(msgspec.Struct, frozen=True):
    """A row for each definition of another file that a file uses: the position of the file that uses, that of
    the file that defines, among all files by path, and the key of the name. Rows are by user, then by the
    path and the name of the definition."""

    users: NDArray[np.int32]
    definers: NDArray[np.int32]
    names: NDArray[np.uint64]

    @classmethod
    def of_parts(cls, paths: Sequence[str], parts: Sequence[bytes]) -> CrossUses:
        """Return the rows of all files: their paths, ascending, and of each what `records.used_part` returns.
        A definition in a file that is gone is left out."""
        defining, names = _numbers(b"".join(parts)).reshape(-1, 2).T
        counts = np.fromiter(map(len, parts), np.int64, len(parts)) // (2 * NAME_KEY_BYTES)
        users = np.repeat(np.arange(len(paths), dtype=np.int32), counts)
        known_keys = _numbers(b"".join(map(name_key, paths)))
        order = np.argsort(known_keys, kind="stable")
        # What a file uses of the same file stands together, so that few of the keys are looked up.
        starts = run_starts(defining)
        wanted = defining[starts]
        places = np.searchsorted(known_keys[order], wanted)
        definers = np.append(order, -1)[places].astype(np.int32)
        definers[np.append(known_keys, 0)[definers] != wanted] = -1
        definers = np.repeat(definers, np.diff(np.append(starts, len(defining))))
        return cls(users, definers, names).where(definers >= 0)

    @classmethod
    def joined(cls, parts: Sequence[tuple[CrossUses, int]]) -> Self:
        """Return the rows of several indexes, each with its count of files, as of one index."""
        bases = np.cumsum([0, *(count for _, count in parts)]).tolist()
        moved = [
            (one.users + np.int32(base), one.definers + np.int32(base), one.names)
            for (one, _), base in zip(parts, bases, strict=False)
        ]
        none = np.zeros(0, np.int32)
        users, definers, names = zip((none, none, none.astype(np.uint64)), *moved, strict=True)
        return cls(np.concatenate(users), np.concatenate(definers), np.concatenate(names))

    def where(self, chosen: NDArray[np.bool_]) -> CrossUses:
        """Return the chosen rows."""
        if chosen.all():  # as a rule
            return self
        return CrossUses(self.users[chosen], self.definers[chosen], self.names[chosen])


def _numbers(keys: bytes) -> NDArray[np.uint64]:
    """Return keys as whole numbers, so that all of them are compared at once."""
    parts = np.frombuffer(keys, "<u2").reshape(-1, NAME_KEY_BYTES // 2)
    padded = np.zeros((len(parts), 4), "<u2")
    padded[:, : parts.shape[1]] = parts
    return padded.view("<u8")[:, 0]
