"""Metrics against values computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.evaluation.cases import Gold
from satchel.evaluation.metrics import OF_SEARCHES, Result, scores

LOG3 = math.log2(3)


def result(path: str, start: int = 1, end: int = 4, line: str = "x" * 99 + "\n") -> Result:
    return Result(path, start, end, line * (end - start + 1))  # a line is 25 tokens


def quarter(text: str) -> float:
    return len(text) / 4


def scored(gold: list[Gold], results: list[Result]) -> dict[str, float]:
    return scores(gold, results, quarter)


def test_gold_on_top_is_worth_one_everywhere() -> None:
    found = scored([Gold("a", 1, 2)], [result("a")])
    assert set(found) == set(OF_SEARCHES) and set(found.values()) == {1.0}


def test_nothing_found_is_worth_nothing() -> None:
    assert set(scored([Gold("a", 1, 2)], []).values()) == {0.0}


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    found = scored([Gold("a"), Gold("b")], [result("x"), result("a"), result("y"), result("b")])
    assert found["ndcg@10"] == pytest.approx((1 / LOG3 + 1 / math.log2(5)) / (1 + 1 / LOG3), abs=1e-6)
    assert found["mrr"] == 0.5


def test_several_chunks_of_a_file_use_up_ranks_of_results_but_not_of_files() -> None:
    found = scored([Gold("a")], [result("x", 1, 2), result("x", 3, 4), result("a")])
    assert found["ndcg@10"] == 0.5 and found["ndcg_files@10"] == pytest.approx(1 / LOG3, abs=1e-6)
    assert found["mrr"] == 0.5


def test_recall_counts_files_and_all_gold_wants_every_one() -> None:
    found = scored([Gold("a"), Gold("b", 1, 2), Gold("b", 9, 9)], [result("a"), result("x"), result("b")])
    assert (found["recall@1"], found["recall@5"]) == (0.5, 1.0)
    assert (found["all_gold@1"], found["all_gold@5"]) == (0.0, 1.0)


def test_the_eleventh_result_earns_no_gain_but_the_tenth_file_may_come_later() -> None:
    results = [result(f"x{number}") for number in range(9)] + [result("x0", 5, 8), result("a")]
    found = scored([Gold("a")], results)
    assert found["ndcg@10"] == 0 and found["recall@10"] == 1 and found["mrr"] == 0.1


def test_lines_of_one_file_are_one_target() -> None:
    assert scored([Gold("a", 50, 60), Gold("a", 80, 90)], [result("a", 1, 4)])["ndcg@10"] == 1


def test_a_span_with_a_tier_must_be_overlapped() -> None:
    gold = [Gold("a", 50, 60, tier="primary")]
    assert scored(gold, [result("a", 1, 49), result("a", 60, 61)])["ndcg@10"] == pytest.approx(
        1 / LOG3, abs=1e-6
    )
    assert scored(gold, [result("a", 1, 49), result("a", 60, 61)])["recall@1"] == 1


def test_two_targets_hit_by_one_result_are_paid_once() -> None:
    gold = [Gold("a", 1, 2, tier="primary"), Gold("a", 3, 4, tier="secondary")]
    assert scored(gold, [result("a", 1, 4)])["ndcg@10"] == pytest.approx(1 / (1 + 1 / LOG3), abs=1e-6)


@pytest.mark.parametrize("path", ["src/core.hs", "core.hs", "lib/src/core.hs"])
def test_a_short_spelling_matches_the_end_of_a_path(path: str) -> None:
    assert Gold("src/core.hs", match="core.hs").is_at(path)
    assert Gold("src/core.hs", tier="primary").is_at(path)
    assert Gold("src/core.hs").is_at(path) == (path == "src/core.hs")


def test_a_name_that_only_ends_alike_is_another_file() -> None:
    assert not Gold("core.hs", match="core.hs").is_at("src/score.hs")


def test_a_pack_ends_at_the_first_result_that_does_not_fit() -> None:
    results = [result("x", 1, 16), result("y", 1, 8), result("a", 1, 1)]  # 400, 200 and 25 tokens
    found = scored([Gold("a")], results)
    assert found["file_recall@500t"] == 0 and found["file_recall@1000t"] == 1


def test_a_pack_takes_what_fits_to_the_last_token() -> None:
    assert scored([Gold("a")], [result("a", 1, 20)])["file_recall@500t"] == 1
    assert scored([Gold("a")], [result("a", 1, 21)])["file_recall@500t"] == 0


def test_lines_that_are_already_there_cost_nothing() -> None:
    found = scored([Gold("a")], [result("x", 1, 15), result("x", 6, 15), result("a", 1, 5)])
    assert found["file_recall@500t"] == 1


def test_line_recall_counts_lines_once() -> None:
    gold = [Gold("a", 1, 4), Gold("a", 3, 6), Gold("b", 1, 4)]
    found = scored(gold, [result("a", 1, 3), result("a", 2, 5)])
    assert found["line_recall@500t"] == 0.5
    assert "line_recall@500t" not in scored([Gold("a")], [result("a")])


def test_a_named_tokenizer_counts_instead_of_characters() -> None:
    found = scores([Gold("a")], [result("a", 1, 4)], lambda text: 501.0)
    assert found["file_recall@500t"] == 0 and found["file_recall@1000t"] == 1


SPANS = st.tuples(st.sampled_from("abcd"), st.integers(1, 30), st.integers(0, 9))


@given(st.lists(SPANS, min_size=1, max_size=4), st.lists(SPANS, max_size=30))
def test_every_metric_is_between_zero_and_one_and_more_tokens_never_lose(
    gold: list[tuple[str, int, int]], results: list[tuple[str, int, int]]
) -> None:
    found = scored(
        [Gold(path, start, start + more) for path, start, more in gold],
        [result(path, start, start + more) for path, start, more in results],
    )
    assert all(0 <= value <= 1 for value in found.values())
    for kind in ("file", "line"):
        curve = [found[f"{kind}_recall@{budget}t"] for budget in (500, 1000, 2000, 4000, 8000)]
        assert curve == sorted(curve)
