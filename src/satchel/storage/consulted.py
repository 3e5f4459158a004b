"""Which files rest on what? Asked by every edit, over the notes of all files."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from satchel.storage.records import key_hash


class ConsultedTable:
    """What the edges of all files rest on, as two arrays: hashes, and the number of the file that noted each.
    Lists by hash would take ten times the room, and longer to make than most edits take otherwise."""

    def __init__(self, rows: Iterable[tuple[int, bytes]]) -> None:
        numbers, packed = [], []
        for number, data in rows:
            numbers.append(number)
            packed.append(data)
        self._hashes = np.frombuffer(b"".join(packed), "<u4")
        counts = np.fromiter((len(data) // 4 for data in packed), np.int64, len(packed))
        self._files = np.repeat(np.array(numbers, np.int64), counts)

    def files_noting(self, keys: Iterable[str]) -> list[int]:
        """Return the numbers of the files that noted one of some keys, ascending."""
        wanted = np.array(sorted(set(map(key_hash, keys))), np.uint32)
        found: list[int] = np.unique(self._files[np.isin(self._hashes, wanted)]).tolist()
        return found
