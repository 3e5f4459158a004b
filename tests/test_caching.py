"""The cache: bounded by the sizes of its values, emptied when full, adopted where keys stay valid."""

from __future__ import annotations

from satchel.caching import Cache


def test_a_value_is_computed_once_until_the_cache_was_full() -> None:
    made: list[int] = []

    def compute(key: int) -> str:
        made.append(key)
        return str(key)

    cache: Cache[int, str] = Cache(2)
    for key in (1, 1, 2, 3, 1):
        assert cache.get_or_compute(key, lambda key=key: compute(key)) == str(key)  # type: ignore[misc]
    assert made == [1, 2, 3, 1] and len(cache) == 2


def test_sizes_count_towards_the_limit() -> None:
    cache: Cache[str, str] = Cache(10)
    cache.keep("a", "x", size=6)
    cache.keep("b", "y", size=4)
    assert list(cache) == ["a", "b"]
    cache.keep("c", "z")
    assert list(cache) == ["c"]


def test_a_value_above_the_limit_is_kept_alone() -> None:
    cache: Cache[str, str] = Cache(2)
    cache.keep("a", "x")
    assert cache.keep("b", "y", size=5) == "y" and list(cache) == ["b"]


def test_values_of_valid_keys_are_adopted() -> None:
    before: Cache[str, int] = Cache(5)
    before.keep("kept", 1)
    before.keep("changed", 2)
    after: Cache[str, int] = Cache(5)
    after.adopt(before, lambda key: key == "kept")
    assert after == {"kept": 1}
