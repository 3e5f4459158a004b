"""The fuzzy matcher: which names and paths are spelled most like another one?

Everything that compares spellings is here, by the ratio of `difflib.SequenceMatcher`. Only a name that was
not found is compared, so `difflib` is loaded when the first one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

NEAREST_NAMES = 3  # names that are given for one that was not found
LEAST_SIMILARITY = 0.6  # of a name that may have been meant
_LONGEST_PATH = 200  # characters; a longer path is not mistyped, and comparing it would take long
_NEAR_FILE_NAMES = 6  # of these the paths most like the asked one are taken
_FILE_NAME_SIMILARITY = 0.7  # `basket.py` and `baskets.py` are near, `basket.py` and `bracket.go` are not
_SAME_FILE_NAMES = 200  # files of one name, such as `__init__.py`, that are compared by their whole path
_MOST_SEARCHES = 10  # file names that are compared with all others in one request; more are no typing errors


def similarity(one: str, other: str) -> float:
    """Return how alike two texts are, from 0 to 1, whatever the case of their letters."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def similar_names(wanted: str, names: Iterable[str], least: float) -> list[str]:
    """Return the names that are at least so similar to `wanted`, the most similar first."""
    scored = [(similarity(wanted, name), name) for name in names]
    near = sorted((item for item in scored if item[0] >= least), key=lambda item: (-item[0], item[1]))
    return [name for _, name in near]


class NameMatcher:
    """Many names, to find those most like another one, as `difflib.get_close_matches` does.

    No two texts are more similar than the letters that they share. Those are counted for all names together,
    and names are compared only as long as one may still be among the nearest.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._lengths = np.array([len(name) for name in self.names], np.int64)
        letters = "".join(self.names).encode("utf-32-le", "surrogatepass")
        self._letters = np.frombuffer(letters, np.uint32)
        self._owners = np.repeat(np.arange(len(self.names)), self._lengths)

    def nearest(self, wanted: str, count: int = NEAREST_NAMES, least: float = LEAST_SIMILARITY) -> list[str]:
        """Return at most `count` names that are most like `wanted` and at least so similar, best first."""
        from difflib import SequenceMatcher

        most = self._similarity_at_most(wanted)
        likely = sorted(((most[at], self.names[at]) for at in np.flatnonzero(most >= least)), reverse=True)
        comparison = SequenceMatcher(b=wanted)
        best: list[tuple[float, str]] = []
        for bound, name in likely:
            if len(best) == count and bound < best[-1][0]:
                break
            comparison.set_seq1(name)
            if (ratio := comparison.ratio()) >= least:
                best = sorted([*best, (ratio, name)], reverse=True)[:count]
        return [name for _, name in best]

    def _similarity_at_most(self, wanted: str) -> Floats:
        """Return for each name twice the letters that it shares with `wanted`, by all letters of both."""
        shared = np.zeros(len(self.names), np.int64)
        for letter in set(wanted):
            holders = self._owners[self._letters == ord(letter)]
            shared += np.minimum(np.bincount(holders, minlength=len(self.names)), wanted.count(letter))
        most: Floats = 2.0 * shared / np.maximum(1, self._lengths + len(wanted))
        return most


class PathMatcher:
    """The paths of an index, to find those that may have been meant by one that does not exist.

    File names are compared without their folders: a wrong folder is the usual mistake, and short names are
    quick to compare in a repository of many thousand files.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(_file_name(path), []).append(path)
        self._names = NameMatcher(self._by_name)
        self._near: dict[str, list[str]] = {}

    def nearest(self, path: str, limit: int) -> list[str]:
        """Return at most `limit` paths whose file names are like that of `path`, the most similar first."""
        names = self._near_names(_file_name(path))
        found = [known for name in names for known in self._by_name[name][:_SAME_FILE_NAMES]]
        ending = path[-_LONGEST_PATH:]
        return sorted(found, key=lambda known: (-round(similarity(ending, known), 6), known))[:limit]

    def _near_names(self, name: str) -> list[str]:
        if name in self._by_name:
            return [name]
        if name not in self._near and len(name) <= _LONGEST_PATH and len(self._near) < _MOST_SEARCHES:
            self._near[name] = self._names.nearest(name, _NEAR_FILE_NAMES, _FILE_NAME_SIMILARITY)
        return self._near.get(name, [])


def _file_name(path: str) -> str:
    return path.rpartition("/")[2].lower()
