"""ExactSplitter: a text that is cut where no piece goes on has as many tokens as before."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from originals import EXACT, original_count

from satchel.tokenizers import byte_pairs
from satchel.tokenizers.byte_pairs import CountCache, ExactSplitter

PIECES = [
    "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "/", "//", "\\", "\\n", "\\n ", "\\\\n ", ";", ").", "'s", "x", "Foo", "12",
    "²", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u0301", "中", "🙂",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join)


@pytest.mark.parametrize("name", EXACT)
@given(text=TEXTS)
@example(";\n/x\n  y\n\nz")
@example('{"a":"x\\n  y\\n\\n z\\n"}')
@settings(deadline=None, max_examples=120)
def test_the_parts_of_a_text_have_its_tokens(name: str, text: str) -> None:
    parts = ExactSplitter().cut(text).texts()
    assert sum(original_count(name, part) for part in parts) == original_count(name, text)


@given(text=TEXTS)
def test_no_character_is_lost(text: str) -> None:
    assert sum(map(len, ExactSplitter().cut(text).texts())) == len(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("a = 1\n    b\nc\n", 3), ("a\n\nb", 2), ("a\n/b\n", 1), ("x\\n  y\\n  z\\n", 3), ("a b", 1)],
)
def test_lines_with_something_on_them_are_parts(text: str, count: int) -> None:
    assert len(ExactSplitter().cut(text).texts()) == count


def test_what_was_counted_is_not_counted_again() -> None:
    known, asked = CountCache("", "\n"), []

    def count(texts: list[str]) -> list[int]:
        asked.extend(texts)
        return [len(text) for text in texts]

    assert known.total(["one", "three", "one"], count) == 4 + 6 + 4
    assert known.total(["three", "two"], count) == 6 + 4
    assert asked == ["one\n", "three\n", "two\n"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_pairs, "_MOST_CHARACTERS", 10)
    known, asked = CountCache("", ""), []

    def count(texts: list[str]) -> list[int]:
        asked.extend(texts)
        return [1 for _ in texts]

    assert known.total(["twelve chars"], count) == known.total(["twelve chars"], count) == 1
    assert asked == ["twelve chars"] * 2
