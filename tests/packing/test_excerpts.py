"""Fetching: what a mode shows of a chunk, and what fits a budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine
from hypothesis import given
from hypothesis import strategies as st

from satchel.commands.get import GetRequest, run
from satchel.engine import Engine
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.packing.excerpts import Mode, StopReason, fit
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
    assert shown.numbers == [0, 2]
    assert (shown.used, shown.stop_reason) == (20, StopReason.BUDGET)


def test_everything_fits_without_a_budget() -> None:
    shown = fit(["a" * 4000, "b"], chars4.count, None, 10)
    assert len(shown.numbers) == 2 and shown.stop_reason is StopReason.COMPLETE


def test_no_more_chunks_than_asked_for() -> None:
    shown = fit(["a", "b", "c"], chars4.count, None, 2)
    assert len(shown.numbers) == 2 and shown.stop_reason is StopReason.MAX_CHUNKS
    assert fit(["a", "b"], chars4.count, None, 2).stop_reason is StopReason.COMPLETE


def test_many_short_texts_together_stay_inside_the_budget() -> None:
    texts = ["abcdefg"] * 50
    shown = fit(texts, chars4.count, 10, 100)
    assert chars4.count("".join(texts[place] for place in shown.numbers)) <= 10


def test_when_nothing_fits_the_least_budget_is_named_and_works() -> None:
    texts = ["a" * 400, "b" * 200, "c" * 300]
    shown = fit(texts, chars4.count, 5, 10)
    assert (shown.numbers, shown.least, shown.stop_reason) == ([], 50, StopReason.BUDGET)
    assert fit(texts, chars4.count, shown.least, 10).numbers == [1]
    assert fit(texts, chars4.count, shown.least - 1, 10).numbers == []


def test_no_least_budget_is_named_when_something_fits() -> None:
    assert fit(["a" * 400, "b" * 20], chars4.count, 5, 10).least == 0


def test_many_texts_are_not_counted_again_for_each_further_one() -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text)

    texts = ["x" * 100] * 200
    assert len(fit(texts, count, 15_000, 200).numbers) == 150
    assert counted < 10 * 100 * 200


def test_a_tokenizer_that_counts_more_when_joined_stays_inside_the_budget() -> None:
    def count(text: str) -> int:
        return len(text) ** 2

    shown = fit(["ab"] * 20, count, 100, 20)
    assert shown.used == 100 and len(shown.numbers) == 5


@given(st.lists(st.text("ab \n", max_size=30), max_size=25), st.integers(1, 60))
def test_fitting_takes_each_text_that_fits_behind_those_before_it(texts: list[str], budget: int) -> None:
    together, expected = "", []
    for place, text in enumerate(texts):
        if chars4.count(together + text) <= budget:
            together += text
            expected.append(place)
    assert fit(texts, chars4.count, budget, 100).numbers == expected


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
        (GetRequest(ids=("a:1:1",), around=-1), InvalidRequest),
        (GetRequest(ids=(",".join(["a:1:1"] * 201),)), InvalidRequest),
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
