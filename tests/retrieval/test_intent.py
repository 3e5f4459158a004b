"""What kind of answer a query asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.intent import Intent, detect_intents
from satchel.retrieval.query import parse_query


def strength(text: str, signal: Intent) -> float:
    return detect_intents(parse_query(text))[signal]


@pytest.mark.parametrize("text", ["Router", "http::Client", "flat_map", "`parse`", "_private"])
def test_a_bare_identifier_is_nothing_else(text: str) -> None:
    found = detect_intents(parse_query(text))
    assert found[Intent.IDENTIFIER] == 1 and found[Intent.CONCEPT] == 0


def test_plain_prose_is_a_concept() -> None:
    found = detect_intents(parse_query("how are sessions stored between requests"))
    assert found[Intent.CONCEPT] == 1 and sum(found.values()) == 1


def test_the_more_a_query_names_the_less_it_is_a_concept() -> None:
    vague, named, bare = "how does it retry", "how does RetryPolicy work", "RetryPolicy.backoff"
    assert strength(vague, Intent.CONCEPT) > strength(named, Intent.CONCEPT) > strength(bare, Intent.CONCEPT)
    assert (
        strength(vague, Intent.IDENTIFIER)
        < strength(named, Intent.IDENTIFIER)
        < strength(bare, Intent.IDENTIFIER)
    )


def test_a_path_counts_most_alone_then_in_the_title_then_in_the_body() -> None:
    texts = ("src/cart.go:12", "what does src/cart.go do", "It crashes\nsee src/cart.go", "it crashes")
    found = [strength(text, Intent.PATH) for text in texts]
    assert found == sorted(found, reverse=True) and len(set(found)) == 4 and found[0] == 1 and found[-1] == 0


def test_a_stack_frame_is_an_error() -> None:
    assert strength('Help\n  File "a.py", line 1, in f', Intent.ERROR) == 1


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Intent.ERROR, "traceback when saving"),
        (Intent.ERROR, "segmentation fault on start"),
        (Intent.DOCUMENTS, "what does the README say about plugins"),
        (Intent.DOCUMENTS, "changelog of the last release"),
        (Intent.DOCUMENTS, "How do I install it?"),
        (Intent.DOCUMENTS, "getting started tutorial"),
        (Intent.DOCUMENTS, "[Doc] parameters of the cart"),
        (Intent.DOCUMENTS, "wrong link in the issue template"),
        (Intent.DOCUMENTS, "how do I configure the cart"),
        (Intent.DOCUMENTS, "how can we deploy it"),
        (Intent.TESTS, "tests for the cart"),
        (Intent.TESTS, "which test covers discounts"),
        (Intent.TESTS, "where is the cart tested"),
        (Intent.TESTS, "fixtures of the database"),
        (Intent.TESTS, "benchmark of the parser"),
        (Intent.CONFIG, "which config file sets the port"),
        (Intent.CONFIG, "dockerfile base image"),
        (Intent.CONFIG, "how to configure the port"),
        (Intent.CONFIG, "github actions for releases"),
        (Intent.CONFIG, "CI runs on old machines"),
    ],
)
def test_words_that_name_a_kind_of_file_are_sure(signal: Intent, text: str) -> None:
    assert strength(text, signal) == 1


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Intent.TESTS, "use the latest contest attestation"),
        (Intent.TESTS, "fastest route"),
        (Intent.DOCUMENTS, "document loader"),
        (Intent.DOCUMENTS, "how the app configures the docker client"),
        (Intent.CONFIG, "initial circuit"),
        (Intent.ERROR, "terror of failover"),
    ],
)
def test_parts_of_words_say_nothing(signal: Intent, text: str) -> None:
    assert strength(text, signal) == 0


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Intent.TESTS, "test client of the framework"),
        (Intent.CONFIG, "how settings are loaded"),
        (Intent.DOCUMENTS, "usage of the cache"),
        (Intent.ERROR, "wrong total"),
    ],
)
def test_words_with_other_meanings_count_half(signal: Intent, text: str) -> None:
    assert strength(text, signal) == 0.5


def test_a_word_in_the_body_counts_less_than_in_the_title() -> None:
    assert (
        0 < strength("Wrong total\nThe tests pass.", Intent.TESTS) < strength("The tests pass", Intent.TESTS)
    )


@pytest.mark.parametrize(
    ("signal", "path"),
    [
        (Intent.TESTS, "tests/cart.py"),
        (Intent.TESTS, "src/cart.spec.ts"),
        (Intent.DOCUMENTS, "docs/cart.txt"),
        (Intent.DOCUMENTS, "guide.md"),
        (Intent.CONFIG, "pyproject.toml"),
        (Intent.CONFIG, "Dockerfile"),
    ],
)
def test_a_path_says_its_kind(signal: Intent, path: str) -> None:
    assert strength(path, signal) == 1


def test_the_name_of_an_exception_points_at_an_error() -> None:
    assert strength("why is there a ValueError here", Intent.ERROR) >= 0.8


@pytest.mark.parametrize("name", ["test_add_to_cart", "CartTest", "TestCart", "cart_spec"])
def test_names_of_tests_point_at_tests(name: str) -> None:
    assert strength(f"why does {name} hang", Intent.TESTS) >= 0.8


def test_several_signals_hold_at_once() -> None:
    found = detect_intents(parse_query("tests for CartError in docs/errors.md"))
    assert (
        min(found[signal] for signal in (Intent.TESTS, Intent.DOCUMENTS, Intent.PATH, Intent.IDENTIFIER))
        > 0.3
    )


@given(st.text() | st.sampled_from(["", "\n", "a\nb", "```\n"]))
def test_every_kind_has_a_strength_from_0_to_1(text: str) -> None:
    found = detect_intents(parse_query(text))
    assert set(found) == set(Intent) and all(0 <= value <= 1 for value in found.values())
