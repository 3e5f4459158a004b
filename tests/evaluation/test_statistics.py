"""Intervals and verdicts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from satchel.evaluation.statistics import ComparisonVerdict, compare_scores, means


def test_mean_and_standard_error_are_the_textbook_ones() -> None:
    found = means({"mrr": [0.0, 0.5, 1.0, 0.5]})["mrr"]
    assert (found.mean, found.n) == (0.5, 4)
    assert found.standard_error == pytest.approx((1 / 6) ** 0.5 / 2, abs=1e-4)


def test_the_interval_is_near_that_of_the_normal_distribution() -> None:
    found = means({"mrr": [number / 199 for number in range(200)]})["mrr"]
    assert found.standard_error is not None and found.low is not None and found.high is not None
    assert found.low == pytest.approx(0.5 - 1.96 * found.standard_error, abs=0.003)
    assert found.high == pytest.approx(0.5 + 1.96 * found.standard_error, abs=0.003)


def test_one_question_has_no_interval_and_no_question_no_mean() -> None:
    found = means({"mrr": [0.3], "recall@1": []})
    assert list(found) == ["mrr"] and found["mrr"].low is None and found["mrr"].standard_error is None


def test_scores_that_do_not_differ_have_no_error() -> None:
    found = means({"mrr": [0.1] * 30})["mrr"]
    assert (found.mean, found.standard_error, found.low, found.high) == (0.1, 0.0, 0.1, 0.1)


def test_a_steady_gain_is_better_and_a_steady_loss_worse() -> None:
    low, high = [0.1, 0.5, 0.3] * 10, [0.2, 0.6, 0.35] * 10
    assert compare_scores(high, low).verdict is ComparisonVerdict.BETTER
    assert compare_scores(low, high).verdict is ComparisonVerdict.WORSE
    assert compare_scores(high, low).difference.mean == pytest.approx(0.0833, abs=1e-4)


def test_a_gain_that_chance_explains_is_no_difference() -> None:
    ours, theirs = [1.0, 0.0] * 10 + [1.0], [0.0, 1.0] * 10 + [0.0]
    assert compare_scores(ours, theirs).verdict is ComparisonVerdict.NO_DIFFERENCE


def test_pairing_finds_what_two_separate_intervals_would_hide() -> None:
    theirs = [number / 100 for number in range(100)]
    ours = [score + 0.01 for score in theirs]
    assert compare_scores(ours, theirs).verdict is ComparisonVerdict.BETTER


def test_too_few_questions_never_tell_a_difference() -> None:
    assert compare_scores([1.0] * 9, [0.0] * 9).verdict is ComparisonVerdict.NO_DIFFERENCE
    assert compare_scores([1.0] * 10, [0.0] * 10).verdict is ComparisonVerdict.BETTER


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_same_scores_give_the_same_interval_in_every_process(threads: str) -> None:
    code = (
        "from satchel.evaluation.statistics import means\n"
        "print(*means({'a': [((n * 37) % 101) / 101 for n in range(300)]})['a'])"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    # written down, so that another machine or another numpy that draws otherwise is seen
    assert done.stdout.split() == ["0.494", "300", "0.0167", "0.4621", "0.5268"]
