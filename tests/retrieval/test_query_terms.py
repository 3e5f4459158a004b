"""Query terms: which words of a query count, and how much."""

from __future__ import annotations

import math

import pytest

from satchel.retrieval import query
from satchel.retrieval.query_terms import STOP_WORDS, Weighting, weigh_terms

ISSUE = "Till rejects coins\n\nThe grey drawer jams, and jams again.\n\n```python\ndrawer.shut(lever)\n```\n"


def weights(text: str, weighting: Weighting) -> dict[str, float]:
    query_terms = weigh_terms(query.parse_query(text))
    return {
        term: weight
        for term, weight in zip(query_terms.terms, query_terms.weights[weighting], strict=True)
        if weight
    }


@pytest.mark.parametrize("weighting", [Weighting.TITLE, Weighting.FULL, Weighting.BLEND])
def test_early_words_of_a_short_query_count_more(weighting: Weighting) -> None:
    found = weights("red green blue grey", weighting)
    assert found["red"] > found["green"] > found["blue"] > found["grey"] > 0.5 * found["red"]


def test_a_single_word_counts_in_full() -> None:
    assert weights("red", Weighting.TITLE)["red"] == 1.0


def test_the_title_of_an_issue_does_not_decay() -> None:
    found = weights(ISSUE, Weighting.TITLE)
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
    assert weights(ISSUE, Weighting.BLEND)[term] == pytest.approx(weight, abs=1 / 4096)


def test_all_of_an_issue_counts_alike_in_the_full_view() -> None:
    found = weights(ISSUE, Weighting.FULL)
    assert found["till"] == found["grey"] == found["lever"] == 1.0 and found["jam"] == 2.0


def test_names_are_a_view_of_their_own() -> None:
    found = weights("the till rejects `CoinSlot` twice", Weighting.NAMES)
    assert {"coin", "slot", "=coinslot"} <= set(found) and "twic" not in found and "till" not in found


@pytest.mark.parametrize("weighting", [Weighting.TITLE, Weighting.FULL, Weighting.BLEND])
def test_stop_words_do_not_count(weighting: Weighting) -> None:
    found = weights("How does the till use all of its coins", weighting)
    assert {"till", "coin"} <= set(found) and not STOP_WORDS & set(found)


def test_a_stop_word_written_as_a_name_counts() -> None:
    assert "in" in weights("the IN operator", Weighting.TITLE)
    assert "in" not in weights("In the operator", Weighting.TITLE)


def test_the_words_of_the_title_are_unstemmed_and_in_order() -> None:
    query_terms = weigh_terms(query.parse_query("Where are openTills counted"))
    assert query_terms.title_words == ("open", "tills", "counted") == query_terms.full_words


def test_a_query_of_stop_words_has_no_terms() -> None:
    assert weigh_terms(query.parse_query("how is it")).terms == ()


def test_every_view_weighs_every_term() -> None:
    query_terms = weigh_terms(query.parse_query(ISSUE))
    assert set(query_terms.weights) == set(Weighting) and len(set(query_terms.terms)) == len(
        query_terms.terms
    )
    assert all(len(found) == len(query_terms.terms) for found in query_terms.weights.values())


def test_the_end_of_a_very_long_text_is_left_out() -> None:
    text = "Till\n\n" + "".join(f"word{number} " for number in range(20_000))
    assert len(weigh_terms(query.parse_query(text)).terms) < 5_000


def test_who_asks_how_something_works_does_not_ask_for_workers() -> None:
    assert set(weights("how does the till work", Weighting.TITLE)) == {"till"}
    assert set(weights("How tills work and close", Weighting.TITLE)) == {"till", "clos"}
    assert "work" in weights("the work queue of the till", Weighting.TITLE)


@pytest.mark.parametrize(
    ("written", "term"), [("C++", "cpp"), ("c#", "csharp"), ("F#", "fsharp"), (".NET", "dotnet")]
)
def test_a_language_is_named_as_files_spell_it(written: str, term: str) -> None:
    assert term in weights(f"literals of {written} are wrong", Weighting.TITLE)
    assert "c" not in weights(f"literals of {written} are wrong", Weighting.TITLE)


def test_signs_inside_a_word_name_no_language() -> None:
    assert "dotnet" not in weights("ASP.NET pages", Weighting.TITLE)
    assert "csharp" not in weights("the anchor page.c#top", Weighting.TITLE)


def test_the_suffix_of_a_language_stands_for_its_name() -> None:
    assert 0 < weights("javascript literals", Weighting.TITLE)["js"] < 1
