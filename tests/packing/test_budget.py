"""Budgets: what is counted is the text itself, with its own size in it."""

from __future__ import annotations

import pytest
from builders import make_item, make_pack
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel import plugins, tokenizers
from satchel.errors import InvalidBudget, InvalidQuery
from satchel.packing.budget import MAX_CHARS, MAX_TOKENS, Gauge
from satchel.packing.pack import Pack
from satchel.tokenizers import Tokenizer

FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")


def gauge(format: str = "context", tokenizer: str = "o200k", *, tokens: int = 0, chars: int = 0) -> Gauge:
    render = plugins.load("renderer", format).render
    return Gauge(render, tokenizers.get(tokenizer), max_tokens=tokens, max_chars=chars)


def framed(gauge: Gauge, *contents: str) -> Pack:
    items = [make_item(f"f{number}.py", content) for number, content in enumerate(contents)]
    return make_pack(*items, budget=gauge.budget())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k", "claude", "chars4"])
@settings(deadline=None, max_examples=25)
@given(words=st.integers(0, 700), limit=st.integers(4000, 200_000), both=st.booleans())
def test_a_sealed_pack_states_its_own_size(
    format: str, tokenizer: str, words: int, limit: int, both: bool
) -> None:
    measured = gauge(format, tokenizer, tokens=limit, chars=limit * 4 if both else 0)
    sealed = measured.sealed(framed(measured, "price " * words))
    text = measured.render(sealed)
    assert sealed.budget.used_tokens == measured.tokenizer.count(text)
    assert sealed.budget.used_chars == len(text)


def test_a_number_that_is_never_its_own_size_is_stated_larger() -> None:
    restless = Tokenizer(
        "restless", lambda text: 50 + text.count(" 50 of") - text.count(" 51 of"), exact=True
    )
    measured = Gauge(plugins.load("renderer", "context").render, restless, max_tokens=90)
    sealed = measured.sealed(framed(measured, "x"))
    assert sealed.budget.used_tokens >= restless.count(measured.render(sealed))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tokenizer", ["o200k", "claude", "chars4"])
def test_the_least_budget_holds_an_empty_pack_and_one_less_does_not(format: str, tokenizer: str) -> None:
    for given_unit, name in (({"tokens": 1}, "min_tokens"), ({"chars": 1}, "min_chars")):
        small = gauge(format, tokenizer, **given_unit)
        with pytest.raises(InvalidBudget) as caught:
            small.check(framed(small))
        least = caught.value.details[name]
        unit = next(iter(given_unit))
        enough, less = (gauge(format, tokenizer, **{unit: value}) for value in (least, least - 1))
        enough.check(framed(enough))
        with pytest.raises(InvalidBudget):
            less.check(framed(less))
        assert list(caught.value.details) == [name]


def test_only_the_unit_that_is_short_is_named() -> None:
    small = gauge("sections", tokens=4000, chars=500)
    with pytest.raises(InvalidBudget) as caught:
        small.check(framed(small))
    assert list(caught.value.details) == ["min_chars"] and "which takes 4,000" not in caught.value.message
    enough = gauge("sections", tokens=4000, chars=caught.value.details["min_chars"])
    enough.check(framed(enough))


def test_what_must_be_said_and_is_larger_than_any_budget_is_said_to_be() -> None:
    measured = gauge("json", tokens=4000)
    with pytest.raises(InvalidQuery, match="more than any budget"):
        measured.check(make_pack(hints=("💡購" * 90_000,), budget=measured.budget()))


@pytest.mark.parametrize("format", ["context", "json", "markdown", "sections", "terminal", "xml"])
def test_a_long_report_leaves_the_budget_to_the_answer(format: str) -> None:
    measured = gauge(format, tokens=1000)
    report = "The basket forgets its total when the session ends. " * 400
    assert measured.size(make_pack(query=report, budget=measured.budget())).tokens < 400


@pytest.mark.parametrize(
    ("tokens", "chars"), [(-1, 0), (0, -1), (MAX_TOKENS + 1, 0), (0, MAX_CHARS + 1), (2**63, 0)]
)
def test_a_budget_out_of_range_is_a_typed_error(tokens: int, chars: int) -> None:
    with pytest.raises(InvalidBudget, match="must be from 1 to"):
        gauge(tokens=tokens, chars=chars)
