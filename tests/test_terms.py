"""A name has the terms of its words, and of all of them together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.terms import stem, terms, words


@given(st.text("abs_", min_size=1, max_size=12))
def test_a_name_has_the_stems_of_its_words_and_the_whole(name: str) -> None:
    parts = words(name)
    whole = [f"={''.join(parts)}"] if len(parts) > 1 else []
    assert list(terms(name)) == [*map(stem, parts), *whole]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("snake_case_names", ["snak", "case", "name", "=snakecasenames"]),
        ("_private", ["priv"]),
        ("a_1", ["a", "=a1"]),
        ("routerGroup", ["rout", "group", "=routergroup"]),
        ("long_" * 26, []),
    ],
)
def test_names_are_split_at_signs_and_capitals(name: str, expected: list[str]) -> None:
    assert list(terms(name)) == expected
