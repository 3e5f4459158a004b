"""Which paths may have been meant by one that does not exist?

Names are compared without their folders: a wrong folder is the usual mistake, and short names are quick
to compare in a repository of many thousand files.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_LONGEST = 200  # characters; nobody mistypes a longer path, and comparing it would take long
_LEAST_LIKENESS = 0.7  # of names: `basket.py` and `baskets.py` are near, `basket.py` and `bracket.go` are not
_NEAR_NAMES = 6  # of these the paths most like the asked one are taken
_NAMESAKES = 200  # of one name, such as `__init__.py`, that are compared by their whole path
_SEARCHES = 10  # names that are compared with all others; who errs more often did not mistype


class NearPaths:
    """The paths of an index by their names."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._near: dict[str, list[str]] = {}
        for known in paths:
            self._by_name.setdefault(_name(known), []).append(known)

    def near(self, path: str, limit: int) -> list[str]:
        """At most `limit` paths whose names are like that of `path`, the most alike first."""
        found = [known for name in self._names(_name(path)) for known in self._by_name[name][:_NAMESAKES]]
        return sorted(found, key=lambda known: (-_likeness(path, known), known))[:limit]

    def _names(self, name: str) -> list[str]:
        if name in self._by_name:
            return [name]
        if name not in self._near and len(name) <= _LONGEST and len(self._near) < _SEARCHES:
            self._near[name] = get_close_matches(name, self._by_name, _NEAR_NAMES, _LEAST_LIKENESS)
        return self._near.get(name, [])


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _likeness(one: str, other: str) -> float:
    return round(SequenceMatcher(None, one[-_LONGEST:].lower(), other.lower()).ratio(), 6)
