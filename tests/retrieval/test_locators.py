"""Locators: how lines may be written, and which commas separate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.locators import WHOLE, Locator, possible_locators, possible_paths, split_joined

KNOWN = {"a.py", "b.py", "a,b.py", "notes, old.md", "x"}


def known(text: str) -> bool:
    return any(lines.path in KNOWN for lines in possible_locators(text))


def split(joined: str) -> list[str]:
    return list(split_joined(joined, known))


@pytest.mark.parametrize(
    "written", ["a.py:3:9", "a.py:3-9", "a.py#L3-L9", "a.py#L3-9", "a.py:L3-L9", "a.py#L3C1-L9C2"]
)
def test_lines_may_be_written_in_these_ways(written: str) -> None:
    assert Locator("a.py", 3, 9) in possible_locators(written)


@pytest.mark.parametrize("written", ["a.py:7", "a.py#L7", "a.py:7:7", "a.py:7-7", "a.py:L7"])
def test_a_single_line_may_be_written_in_these_ways(written: str) -> None:
    assert Locator("a.py", 7, 7) in possible_locators(written)


def test_a_path_alone_is_the_whole_file() -> None:
    assert list(possible_locators("src/app.py")) == [Locator("src/app.py", WHOLE, WHOLE)]


def test_our_own_form_is_read_before_a_file_of_that_name() -> None:
    assert [lines.path for lines in possible_locators("a:1:2")] == ["a", "a:1:2", "a:1"]


@pytest.mark.parametrize(
    "written", ["src/app.py", "src\\app.py", "./src/app.py", ".\\src\\app.py", ".//src/app.py"]
)
def test_a_path_may_be_spelled_in_these_ways(written: str) -> None:
    assert "src/app.py" in possible_paths(written)


@pytest.mark.parametrize(
    ("joined", "expected"),
    [
        ("a.py:1:2,b.py:3:4", ["a.py:1:2", "b.py:3:4"]),
        (" a.py:1-2 , b.py ", ["a.py:1-2", "b.py"]),
        ("a,b.py:1:2", ["a,b.py:1:2"]),
        ("b.py:9,a,b.py#L1-L2,x", ["b.py:9", "a,b.py#L1-L2", "x"]),
        ("notes, old.md,a.py", ["notes, old.md", "a.py"]),
        ("gone,file.py:1:2", ["gone,file.py:1:2"]),
        ("nonsense,a.py:1:2", ["nonsense", "a.py:1:2"]),
        (
            "gone:0123456789,chunk_0123456789abcdef,a.py",
            ["gone:0123456789", "chunk_0123456789abcdef", "a.py"],
        ),
        (",, a.py:1:1 ,,", ["a.py:1:1"]),
        (" , ", []),
    ],
)
def test_a_comma_separates_only_where_no_path_holds_it(joined: str, expected: list[str]) -> None:
    assert split(joined) == expected


def test_a_long_list_of_unknown_words_is_not_one_path() -> None:
    assert max(part.count(",") for part in split(",".join(["word"] * 20))) == 8


@given(
    st.lists(
        st.sampled_from(["a.py:1:2", "a,b.py:3:4", "doc:0123456789", "notes, old.md#L1-L2"]), max_size=30
    )
)
def test_what_was_joined_is_separated_again(written: list[str]) -> None:
    assert split(",".join(written)) == written


@given(st.text("ab,:1# ", max_size=60))
def test_no_text_is_lost_in_splitting(joined: str) -> None:
    assert "".join(split(joined)).replace(",", "").replace(" ", "") == joined.replace(",", "").replace(
        " ", ""
    )
