"""Answers that are too long for one result: pages that add up, and cursors that are good for one answer."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import age, make_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_clients import Agent, Told, agent, spawned

from satchel import tokenizers
from satchel.errors import InvalidCursor
from satchel.serving.mcp.paging import (
    MAX_RESULT_TOKENS,
    Cursor,
    PageStart,
    decode_cursor,
    encode_cursor,
    item_count,
    slice_items,
    take_page,
)

LINES = 4_500
NAMES = [f"function_number_{number}_of_many" for number in range(1_500)]
MANY = {
    "many.py": "".join(f"def {name}(first_argument, second_argument):\n    pass\n\n\n" for name in NAMES),
    "long.md": "# Long\n\n"
    + "".join(f"The line with number {number} says little.\n" for number in range(LINES)),
    "small.py": "def small():\n    pass\n",
}
COUNT = tokenizers.get("o200k").count


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return age(make_tree(tmp_path_factory.mktemp("pages") / "many", MANY))


@pytest.fixture(scope="module")
def asked(root: Path) -> Iterator[Agent]:
    with agent(spawned(root)) as found:
        yield found


def pages(found: Agent, tool: str, **arguments: Any) -> list[Told]:
    told = [found.tool(tool, **arguments)]
    while told[-1].cursor:
        assert f"more: call again with cursor={told[-1].cursor}" in told[-1].text
        told.append(found.tool(tool, **arguments, cursor=told[-1].cursor))
    return told


def test_pages_are_under_the_limit_and_hold_every_item_once(asked: Agent) -> None:
    told = pages(asked, "symbols", name="many.py", limit=5_000)
    assert len(told) > 1 and all(COUNT(page.text) <= MAX_RESULT_TOKENS for page in told)
    assert [item["name"] for page in told for item in page.data["symbols"]] == NAMES
    assert all(item["name"] in page.text for page in told for item in page.data["symbols"])


def test_an_item_longer_than_a_page_is_cut_at_line_ends(asked: Agent) -> None:
    lines = [f"long.md:1:{len(MANY['long.md'].splitlines())}"]
    told = pages(asked, "get", ids=[*lines, "small.py"])
    assert len(told) > 2 and all(COUNT(page.text) <= MAX_RESULT_TOKENS for page in told)
    said = "\n".join(page.text for page in told)
    assert all(said.count(f"number {number} says little.\n") == 1 for number in range(LINES))
    assert "def small" in told[-1].text


def test_a_pack_over_the_limit_comes_in_pages(asked: Agent) -> None:
    asked_for = {"query": "function number of many", "budget_tokens": 100_000, "max_chars": 0, "limit": 100}
    told = pages(asked, "context_pack", **asked_for)
    assert all(COUNT(page.text) <= MAX_RESULT_TOKENS for page in told)
    places = [item["id"] for page in told for item in page.data["items"]]
    assert len(places) == len(set(places)) > 0


def test_a_page_asked_twice_is_the_same(asked: Agent) -> None:
    cursor = asked.tool("symbols", name="many.py", limit=5_000).cursor
    first, second = (asked.tool("symbols", name="many.py", limit=5_000, cursor=cursor) for _ in range(2))
    assert first.text == second.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("symbols", {"name": "many.py"}), ("symbols", {"name": "small.py"}), ("search", {"query": "small"})],
)
def test_a_cursor_is_of_one_question(asked: Agent, tool: str, arguments: dict[str, Any]) -> None:
    cursor = asked.tool("symbols", name="many.py", limit=5_000).cursor
    assert asked.tool(tool, **arguments, cursor=cursor).code == "cursor_mismatch"


@pytest.mark.parametrize("cursor", ["x", "!!!", "W10", "WzEsMl0", "€", "W10=" * 1000])
def test_what_is_no_cursor_is_told(asked: Agent, cursor: str) -> None:
    assert asked.tool("search", query="small", cursor=cursor).code == "invalid_cursor"


def test_a_place_beyond_the_end_is_no_cursor(asked: Agent) -> None:
    cursor = decode_cursor(asked.tool("symbols", name="many.py", limit=5_000).cursor)
    beyond = Cursor(*(getattr(cursor, name) for name in cursor.__struct_fields__[:-2]), 10**6, 0)
    told = asked.tool("symbols", name="many.py", limit=5_000, cursor=encode_cursor(beyond))
    assert told.code == "invalid_cursor"


def test_a_cursor_ends_with_its_root_and_with_its_index(tmp_path: Path) -> None:
    here, there = (make_tree(tmp_path / name, MANY) for name in ("here", "there"))
    with agent(spawned(here)) as found:
        cursor = found.tool("symbols", name="many.py", limit=5_000).cursor
        (here / "small.py").write_text("def changed():\n    pass\n")
        told = found.tool("symbols", name="many.py", limit=5_000, cursor=cursor)
    with agent(spawned(there)) as other:
        elsewhere = other.tool("symbols", name="many.py", limit=5_000, cursor=cursor)
    assert (told.code, elsewhere.code) == ("cursor_mismatch", "cursor_mismatch")
    assert "an older index" in told.text and "another root" in elsewhere.text


@given(st.binary(max_size=60))
def test_garbage_is_never_a_cursor(data: bytes) -> None:
    text = base64.urlsafe_b64encode(data).decode()
    with pytest.raises(InvalidCursor):
        decode_cursor(text)


@settings(deadline=None, max_examples=30)  # the first example loads the vocabulary
@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=12))
def test_whatever_the_sizes_pages_hold_all_text_in_order(sizes: list[int]) -> None:
    answer = _answer(sizes)
    place: PageStart | None = PageStart()
    told: list[str] = []
    while place is not None:
        page = take_page(answer, _render, place)
        told.append(page.text)
        place = page.next_start
    bare = "".join(told).replace("```", "").replace("\n", "")
    assert bare == _render(answer).replace("\n", "")


def test_items_are_counted_and_cut_over_all_lists() -> None:
    answer = _answer([1, 2, 3])
    assert item_count(answer) == 3
    assert [len(part.items) for part in (slice_items(answer, 1, 3), slice_items(answer, 3, 9))] == [2, 0]


def _answer(sizes: list[int]) -> Any:
    kind = msgspec.defstruct("Sized", [("items", list[str])])
    return kind(items=["ab " * (size // 3) for size in sizes])


def _render(answer: Any) -> str:
    return "".join(f"{item}\n" for item in answer.items)
