"""What kind of answer a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.intent import Signal, signals
from satchel.retrieval.question import read


def strength(text: str, signal: Signal) -> float:
    return signals(read(text))[signal]


@pytest.mark.parametrize("text", ["Router", "http::Client", "flat_map", "`parse`", "_private"])
def test_a_bare_identifier_is_nothing_else(text: str) -> None:
    found = signals(read(text))
    assert found[Signal.IDENTIFIER] == 1 and found[Signal.CONCEPT] == 0


def test_plain_prose_is_a_concept() -> None:
    found = signals(read("how are sessions stored between requests"))
    assert found[Signal.CONCEPT] == 1 and sum(found.values()) == 1


def test_the_more_a_question_names_the_less_it_is_a_concept() -> None:
    vague, named, bare = "how does it retry", "how does RetryPolicy work", "RetryPolicy.backoff"
    assert strength(vague, Signal.CONCEPT) > strength(named, Signal.CONCEPT) > strength(bare, Signal.CONCEPT)
    assert (
        strength(vague, Signal.IDENTIFIER)
        < strength(named, Signal.IDENTIFIER)
        < strength(bare, Signal.IDENTIFIER)
    )


def test_a_path_counts_most_alone_then_in_the_title_then_in_the_body() -> None:
    texts = ("src/cart.go:12", "what does src/cart.go do", "It crashes\nsee src/cart.go", "it crashes")
    found = [strength(text, Signal.PATH) for text in texts]
    assert found == sorted(found, reverse=True) and len(set(found)) == 4 and found[0] == 1 and found[-1] == 0


def test_a_stack_frame_is_an_error() -> None:
    assert strength('Help\n  File "a.py", line 1, in f', Signal.ERROR) == 1


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Signal.ERROR, "traceback when saving"),
        (Signal.ERROR, "segmentation fault on start"),
        (Signal.DOCUMENTS, "what does the README say about plugins"),
        (Signal.DOCUMENTS, "changelog of the last release"),
        (Signal.DOCUMENTS, "How do I install it?"),
        (Signal.DOCUMENTS, "getting started tutorial"),
        (Signal.TESTS, "tests for the cart"),
        (Signal.TESTS, "which test covers discounts"),
        (Signal.TESTS, "where is the cart tested"),
        (Signal.TESTS, "fixtures of the database"),
        (Signal.TESTS, "benchmark of the parser"),
        (Signal.CONFIG, "which config file sets the port"),
        (Signal.CONFIG, "dockerfile base image"),
        (Signal.CONFIG, "github actions for releases"),
    ],
)
def test_words_that_name_a_kind_of_file_are_sure(signal: Signal, text: str) -> None:
    assert strength(text, signal) == 1


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Signal.TESTS, "use the latest contest attestation"),
        (Signal.TESTS, "fastest route"),
        (Signal.DOCUMENTS, "document loader"),
        (Signal.CONFIG, "initial circuit"),
        (Signal.ERROR, "terror of failover"),
    ],
)
def test_parts_of_words_say_nothing(signal: Signal, text: str) -> None:
    assert strength(text, signal) == 0


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        (Signal.TESTS, "test client of the framework"),
        (Signal.CONFIG, "how settings are loaded"),
        (Signal.DOCUMENTS, "usage of the cache"),
        (Signal.ERROR, "wrong total"),
    ],
)
def test_words_with_other_meanings_count_half(signal: Signal, text: str) -> None:
    assert strength(text, signal) == 0.5


def test_a_word_in_the_body_counts_less_than_in_the_title() -> None:
    assert (
        0 < strength("Wrong total\nThe tests pass.", Signal.TESTS) < strength("The tests pass", Signal.TESTS)
    )


@pytest.mark.parametrize(
    ("signal", "path"),
    [
        (Signal.TESTS, "tests/cart.py"),
        (Signal.TESTS, "src/cart.spec.ts"),
        (Signal.DOCUMENTS, "docs/cart.txt"),
        (Signal.DOCUMENTS, "guide.md"),
        (Signal.CONFIG, "pyproject.toml"),
        (Signal.CONFIG, "Dockerfile"),
    ],
)
def test_a_path_says_its_kind(signal: Signal, path: str) -> None:
    assert strength(path, signal) == 1


def test_the_name_of_an_exception_points_at_an_error() -> None:
    assert strength("why is there a ValueError here", Signal.ERROR) >= 0.8


@pytest.mark.parametrize("name", ["test_add_to_cart", "CartTest", "TestCart", "cart_spec"])
def test_names_of_tests_point_at_tests(name: str) -> None:
    assert strength(f"why does {name} hang", Signal.TESTS) >= 0.8


def test_several_signals_hold_at_once() -> None:
    found = signals(read("tests for CartError in docs/errors.md"))
    assert (
        min(found[signal] for signal in (Signal.TESTS, Signal.DOCUMENTS, Signal.PATH, Signal.IDENTIFIER))
        > 0.3
    )


@given(st.text() | st.sampled_from(["", "\n", "a\nb", "```\n"]))
def test_every_kind_has_a_strength_from_0_to_1(text: str) -> None:
    found = signals(read(text))
    assert set(found) == set(Signal) and all(0 <= value <= 1 for value in found.values())
