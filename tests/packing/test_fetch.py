"""Fetching: what a mode shows of a chunk, and what fits a budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.commands.get import GetRequest, run
from satchel.engine import Engine
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.packing.fetch import Mode, StopReason, fit
from satchel.tokenizers import chars4

LONG = "class Long:\n" + "".join(f"    def method_{n}(self):\n        return {n}\n\n" for n in range(9))


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return memory_engine(make_tree(tmp_path, {**SHOP, "src/long.py": LONG}))


def text(engine: Engine, locator: str, mode: Mode) -> str:
    (chunk,) = run(engine, GetRequest(ids=(locator,), mode=mode)).chunks
    return chunk.text


def test_raw_is_the_text(shop: Engine) -> None:
    assert text(shop, "src/long.py:1:20", Mode.RAW) == "".join(LONG.splitlines(True)[:20])


def test_an_excerpt_keeps_indentation_and_says_that_it_is_cut(shop: Engine) -> None:
    shown = text(shop, "src/long.py:1:20", Mode.EXCERPT)
    assert shown == "".join(LONG.splitlines(True)[:12]) + "…\n"
    assert text(shop, "src/long.py:2:3", Mode.EXCERPT) == "    def method_0(self):\n        return 0\n"


def test_a_skeleton_is_signatures_or_headings(shop: Engine) -> None:
    expected = "class Long:\n" + "".join(f"    def method_{n}(self):\n" for n in range(6))
    assert text(shop, "src/long.py:1:18", Mode.SKELETON) == expected
    assert text(shop, "README.md:5:8", Mode.SKELETON) == "## Setup\n"


def test_a_skeleton_of_text_without_symbols_is_its_first_line(shop: Engine) -> None:
    assert text(shop, "src/basket.py:12:13", Mode.SKELETON).startswith("    def total_price")
    assert text(shop, "src/basket.py:13:13", Mode.SKELETON).strip().startswith("return")


def test_what_is_too_long_is_passed_over_and_a_later_one_still_fits() -> None:
    shown = fit(["a" * 40, "b" * 400, "c" * 40], chars4.count, 25, 10)
    assert [place for place, _ in shown.texts] == [0, 2]
    assert (shown.used, shown.stop_reason) == (20, StopReason.BUDGET)


def test_everything_fits_without_a_budget() -> None:
    shown = fit(["a" * 4000, "b"], chars4.count, None, 10)
    assert len(shown.texts) == 2 and shown.stop_reason is StopReason.COMPLETE


def test_no_more_chunks_than_asked_for() -> None:
    shown = fit(["a", "b", "c"], chars4.count, None, 2)
    assert len(shown.texts) == 2 and shown.stop_reason is StopReason.MAX_CHUNKS
    assert fit(["a", "b"], chars4.count, None, 2).stop_reason is StopReason.COMPLETE


def test_many_short_texts_together_stay_inside_the_budget() -> None:
    texts = ["abcdefg"] * 50
    shown = fit(texts, chars4.count, 10, 100)
    assert chars4.count("".join(text for _, text in shown.texts)) <= 10


def test_used_tokens_are_those_of_what_is_shown(shop: Engine) -> None:
    answer = run(shop, GetRequest(ids=("src/long.py:1:1", "src/long.py:2:2"), budget=100))
    assert answer.used_tokens <= 100 and answer.stop_reason is StopReason.COMPLETE


def test_left_out_and_missing_are_reported_not_dropped(shop: Engine) -> None:
    answer = run(shop, GetRequest(ids=("src/long.py:1:20", "src/long.py:2:2,nothing:0123456789"), budget=10))
    assert len(answer.left_out) == 1 and [item.fate for item in answer.missing] == ["unknown"]
    assert [chunk.start_line for chunk in answer.chunks] == [2] and answer.stop_reason is StopReason.BUDGET


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (GetRequest(), InvalidRequest),
        (GetRequest(ids=(" , ",)), InvalidRequest),
        (GetRequest(ids=("a:1:1",), budget=0), InvalidBudget),
        (GetRequest(ids=("a:1:1",), budget=-1), InvalidBudget),
        (GetRequest(ids=("a:1:1",), max_chunks=0), InvalidRequest),
        (GetRequest(ids=("a:1:1",) * 201), InvalidRequest),
    ],
)
def test_a_request_that_can_not_be_answered_is_a_typed_error(
    shop: Engine, request_: GetRequest, error: type[InvalidRequest]
) -> None:
    with pytest.raises(error):
        run(shop, request_)


def test_a_chunk_says_how_many_values_were_redacted(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5"
    engine = memory_engine(make_tree(tmp_path, {"a.md": f"# A\n\n{token}\n\n# B\n\nnone\n"}))
    first, second = run(engine, GetRequest(ids=("a.md:1:4", "a.md:5:7"))).chunks
    assert (first.redactions, second.redactions) == (1, 0) and token not in first.text
