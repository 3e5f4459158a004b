"""Which files rest on what? Asked by every edit, over the notes of all files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from satchel.storage.checks import ROW_ENCODER, damaged, sum_checks
from satchel.storage.deflate import crc32
from satchel.storage.records import key_hash


class ConsultedTable:
    """What the edges of all files rest on, as two arrays: hashes, and the number of the file that noted each.
    Lists by hash would take ten times the room, and longer to make than most edits take otherwise."""

    def __init__(self, numbers: Sequence[int], noted: Sequence[bytes]) -> None:
        """Take the numbers of files, and of each the hashes that it noted, one after another."""
        self._hashes = np.frombuffer(b"".join(noted), "<u4")
        lengths = np.fromiter(map(len, noted), np.int64, len(noted))
        # Numbers of files are given one after another, and an index has far fewer than 2³² of them.
        self._files = np.repeat(np.array(numbers, np.uint32), lengths // 4)

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[Any]], total: int) -> Self:
        """Return the table of rows of edges: file, check of the row, check of its data, what was noted. The
        checks have to add up to the total. Every edit reads the rows of all files, so whole columns are
        checked at once."""
        numbers, checks, data_checks, noted = tuple(zip(*rows, strict=True)) or ((), (), (), ())
        if sum_checks(checks) != total:
            raise damaged("the list of edges")
        if not set(map(type, noted)) <= {bytes}:
            raise damaged("what a file refers to")
        starts = map(crc32, map(ROW_ENCODER.encode, zip(numbers, data_checks, strict=True)))
        if tuple(map(crc32, noted, starts)) != checks:
            raise damaged("what a file refers to")
        return cls(numbers, noted)

    def files_noting(self, keys: Iterable[str]) -> list[int]:
        """Return the numbers of the files that noted one of some keys, ascending."""
        wanted = np.array(sorted(set(map(key_hash, keys))), np.uint32)
        # `np.unique` would load numpy's masked arrays, which takes longer than all the rest of this.
        found: list[int] = self._files[np.isin(self._hashes, wanted)].tolist()
        return sorted(set(found))
