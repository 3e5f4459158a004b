"""Which names are spelled most like another one? What `difflib.get_close_matches` finds, among many at once.

No two texts are more alike than the letters that they share. Those are counted for all names together, and
names are compared only as long as one may still be among the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

_NEAREST = 3  # names that are given
_LIKENESS = 0.6  # the least of them


class Spelled:
    """Names and their letters."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._lengths = np.array([len(name) for name in self.names], np.int64)
        letters = "".join(self.names).encode("utf-32-le", "surrogatepass")
        self._letters = np.frombuffer(letters, np.uint32)
        self._owners = np.repeat(np.arange(len(self.names)), self._lengths)

    def likeness_at_most(self, wanted: str) -> Floats:
        """For each name twice the letters that it shares with another, by all letters of both."""
        shared = np.zeros(len(self.names), np.int64)
        for letter in set(wanted):
            holders = self._owners[self._letters == ord(letter)]
            shared += np.minimum(np.bincount(holders, minlength=len(self.names)), wanted.count(letter))
        most: Floats = 2.0 * shared / np.maximum(1, self._lengths + len(wanted))
        return most


def nearest(wanted: str, spelled: Spelled) -> list[str]:
    """The names that are most like the wanted one, best first."""
    from difflib import SequenceMatcher  # only what was not found pays for it

    most = spelled.likeness_at_most(wanted)
    likely = sorted(((most[at], spelled.names[at]) for at in np.flatnonzero(most >= _LIKENESS)), reverse=True)
    comparison = SequenceMatcher(b=wanted)
    best: list[tuple[float, str]] = []
    for likeness, name in likely:
        if len(best) == _NEAREST and likeness < best[-1][0]:
            break
        comparison.set_seq1(name)
        if (likeness := comparison.ratio()) >= _LIKENESS:
            best = sorted([*best, (likeness, name)], reverse=True)[:_NEAREST]
    return [name for _, name in best]
