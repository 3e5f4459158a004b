"""YAML that would crash its parser."""

from __future__ import annotations

import pytest
from exactness import assert_exact
from hypothesis import given
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.chunking.yaml import is_too_deep

LINES = st.builds(
    lambda indent, marker, rest: " " * indent + marker + rest,
    st.integers(0, 6),
    st.sampled_from(["", "", "- ", "- - ", "? ", ": "]),
    st.sampled_from(["a:", "b: c", "# d", "---", "e: |", "[f,", "'g", "", "&h i: *h", "\t", "ä: {"]),
)


@given(lines=st.lists(LINES, max_size=14), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_whatever_the_text_every_line_is_in_one_exact_chunk(lines: list[str], end: str) -> None:
    text = end.join(lines)
    assert_exact(text, parse_source(text, "yaml").chunks)


@pytest.mark.parametrize(
    "text",
    [
        "".join(" " * depth + "a:\n" for depth in range(300)),
        "".join("  " * depth + "- a:\n" for depth in range(130)),
        "- " * 5000,
        "? - " * 5000,
        ": " * 5000,
        "".join(" " * depth + "a:\n# remark\n\n" for depth in range(300)),
        "".join(" " * depth + "a:\r" for depth in range(300)),
    ],
)
def test_what_is_nested_too_deeply_becomes_windows_without_loss(text: str) -> None:
    parsed = parse_source(text, "yaml")
    assert parsed.symbols == ()
    assert_exact(text, parsed.chunks)


def test_many_blocks_beside_one_another_are_not_deep() -> None:
    assert not is_too_deep("a:\n  - b: c\n    d: e\n" * 500)
