"""Views: which words of a question count, and how much."""

from __future__ import annotations

import math

import pytest

from satchel.retrieval import question
from satchel.retrieval.views import STOP_WORDS, View, look

ISSUE = "Till rejects coins\n\nThe grey drawer jams, and jams again.\n\n```python\ndrawer.shut(lever)\n```\n"


def weights(text: str, view: View) -> dict[str, float]:
    views = look(question.read(text))
    return {term: weight for term, weight in zip(views.terms, views.weights[view], strict=True) if weight}


@pytest.mark.parametrize("view", [View.TITLE, View.FULL, View.BLEND])
def test_early_words_of_a_short_question_count_more(view: View) -> None:
    found = weights("red green blue grey", view)
    assert found["red"] > found["green"] > found["blue"] > found["grey"] > 0.5 * found["red"]


def test_a_single_word_counts_in_full() -> None:
    assert weights("red", View.TITLE)["red"] == 1.0


def test_the_title_of_an_issue_does_not_decay() -> None:
    found = weights(ISSUE, View.TITLE)
    assert found["till"] == found["coin"] == 1.0 and "drawer" not in found


@pytest.mark.parametrize(
    ("term", "weight"),
    [
        ("till", math.sqrt(2.0)),  # the title
        ("grey", 1.0),  # the prose
        ("lever", math.sqrt(0.5)),  # the code
        ("jam", math.sqrt(2.0)),  # twice in the prose
        ("draw", math.sqrt(1.5)),  # in the prose and in the code
    ],
)
def test_the_parts_of_an_issue_are_blended_by_their_worth(term: str, weight: float) -> None:
    assert weights(ISSUE, View.BLEND)[term] == pytest.approx(weight, abs=1 / 4096)


def test_all_of_an_issue_counts_alike_in_the_full_view() -> None:
    found = weights(ISSUE, View.FULL)
    assert found["till"] == found["grey"] == found["lever"] == 1.0 and found["jam"] == 2.0


def test_names_are_a_view_of_their_own() -> None:
    found = weights("the till rejects `CoinSlot` twice", View.NAMES)
    assert {"coin", "slot", "=coinslot"} <= set(found) and "twic" not in found and "till" not in found


@pytest.mark.parametrize("view", [View.TITLE, View.FULL, View.BLEND])
def test_stop_words_do_not_count(view: View) -> None:
    found = weights("How does the till use all of its coins", view)
    assert {"till", "coin"} <= set(found) and not STOP_WORDS & set(found)


def test_a_stop_word_written_as_a_name_counts() -> None:
    assert "in" in weights("the IN operator", View.TITLE)
    assert "in" not in weights("In the operator", View.TITLE)


def test_the_words_of_the_title_are_unstemmed_and_in_order() -> None:
    views = look(question.read("Where are openTills counted"))
    assert views.title_words == ("open", "tills", "counted") == views.full_words


def test_a_question_of_stop_words_has_no_terms() -> None:
    assert look(question.read("how is it")).terms == ()


def test_every_view_weighs_every_term() -> None:
    views = look(question.read(ISSUE))
    assert set(views.weights) == set(View) and len(set(views.terms)) == len(views.terms)
    assert all(len(found) == len(views.terms) for found in views.weights.values())


def test_the_end_of_a_very_long_text_is_left_out() -> None:
    text = "Till\n\n" + "".join(f"word{number} " for number in range(20_000))
    assert len(look(question.read(text)).terms) < 5_000


def test_who_asks_how_something_works_does_not_ask_for_workers() -> None:
    assert set(weights("how does the till work", View.TITLE)) == {"till"}
    assert set(weights("How tills work and close", View.TITLE)) == {"till", "clos"}
    assert "work" in weights("the work queue of the till", View.TITLE)
