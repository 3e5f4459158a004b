"""What was worked out of one generation of an index, whatever the query: kept while that is in use."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from satchel.retrieval.corpus import Corpus

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class AtHand(Generic[Key, Value]):
    """Up to `most` values of each corpus. A value must not refer to the corpus, or neither would ever go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: WeakKeyDictionary[Corpus, dict[Key, Value]] = WeakKeyDictionary()

    def get(self, corpus: Corpus, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key, made if it is not at hand."""
        kept = self._of.setdefault(corpus, {})
        found = kept.get(key)
        if found is None:
            found = make()
            if len(kept) >= self._most:
                kept.clear()
            kept[key] = found
        return found
