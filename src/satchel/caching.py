"""A bounded cache, the only cache class of the tree. Pure functions of few arguments use
`functools.lru_cache`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(dict[Key, Value]):
    """Values by key. A cache that is full is emptied before the next value is kept.

    Emptying needs no record of which value was used last, which would cost more than most values take to
    compute again. It is a dictionary, so that a lookup in a hot loop runs at the speed of one.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self._size = 0  # the sizes of all values that were kept since the cache was last emptied

    def keep(self, key: Key, value: Value, size: int = 1) -> Value:
        """Keep a value that counts as `size` towards the limit, and return it."""
        self._size += size
        if self._size > self.limit:
            self.clear()
            self._size = size
        self[key] = value
        return value

    def get_or_compute(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of `key`, computed if it is not in the cache. None is not kept."""
        found = self.get(key)
        return self.keep(key, compute()) if found is None else found

    def adopt(self, other: Cache[Key, Value], is_valid: Callable[[Key], bool]) -> None:
        """Keep the values of another cache whose keys are still valid."""
        for key, value in other.items():
            if is_valid(key):
                self.keep(key, value)
