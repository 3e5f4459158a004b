"""What is wrong with a request for a pack is the same typed error for Python, the command line and the API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel import Engine, answer, pack_format
from satchel.errors import InvalidBudget, InvalidQuery, InvalidRequest, SatchelError, Unsupported
from satchel.pack_request import PackLayout, PackRequest
from satchel.packing.pack import plain_text
from satchel.serving.cli import main

# The fields that a request changes, the command that takes them on other surfaces, and the error.
SECTIONED: dict[str, tuple[dict[str, Any], type[SatchelError]]] = {
    "a budget of 0 tokens": ({"budget_tokens": 0}, InvalidBudget),
    "a budget below 0": ({"budget_tokens": -5}, InvalidBudget),
    "a budget of 0 characters": ({"max_chars": 0}, InvalidBudget),
    "a budget that holds no answer": ({"budget_tokens": 1}, InvalidBudget),
    "a budget above all": ({"budget_tokens": 200_001}, InvalidBudget),
    "a mode that is none": ({"mode": "nonsense"}, InvalidRequest),
    "a section that is none": ({"section_caps": {"nonsense": 1}}, InvalidRequest),
    "a cap below 0": ({"section_caps": {"tests": -1}}, InvalidRequest),
    "no candidates": ({"max_candidates": 0}, InvalidRequest),
    "too many candidates": ({"max_candidates": 1001}, InvalidRequest),
    "a tokenizer that is none": ({"tokenizer": "nonsense"}, Unsupported),
    "an empty query": ({"query": " "}, InvalidQuery),
}
FLAT: dict[str, tuple[dict[str, Any], type[SatchelError]]] = {
    "no items": ({"limit": 0}, InvalidRequest),
    "too many items": ({"limit": 101}, InvalidRequest),
    "too many related items": ({"max_related_per_primary": 101}, InvalidRequest),
    "a reserve below 0": ({"reserve_tokens": -1}, InvalidRequest),
    "a strategy that is none": ({"strategy": "nonsense"}, InvalidRequest),
    "a budget below 0": ({"budget_tokens": -1}, InvalidBudget),
}
CASES = [
    *(pytest.param("pack", {}, *case, id=f"sectioned: {name}") for name, case in SECTIONED.items()),
    *(
        pytest.param("context_pack", {"layout": "flat"}, *case, id=f"flat: {name}")
        for name, case in FLAT.items()
    ),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = make_tree(tmp_path_factory.mktemp("pack_request"), SHOP)
    assert answer({"action": "index", "payload": {"project": str(found)}})["status"] == "ok"
    return found


@pytest.fixture(scope="module")
def engine(root: Path) -> Engine:
    return memory_engine(root)


@pytest.mark.parametrize(("action", "layout", "fields", "error"), CASES)
def test_a_bad_request_is_the_same_typed_error_everywhere(
    engine: Engine,
    root: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    action: str,
    layout: dict[str, str],
    fields: dict[str, Any],
    error: type[SatchelError],
) -> None:
    asked = {"query": "basket", **fields}
    with pytest.raises(error) as caught:
        engine.pack(**{"render": pack_format("context").render, **layout, **asked})
    assert type(caught.value) is error

    told = answer({"action": action, "payload": {"project": str(root), **asked}})
    assert told["error"]["code"] == error.code

    main([action, "--segment", str(root), "--json", *_flags(asked)])
    printed = json.loads(capfdbinary.readouterr().out)
    assert printed["error"]["code"] == error.code


def _flags(fields: dict[str, Any]) -> list[str]:
    words = []
    for name, value in fields.items():
        if name == "query":
            continue
        text = ",".join(f"{key}={cap}" for key, cap in value.items()) if isinstance(value, dict) else value
        words.append(f"--{name.replace('_', '-')}={text}")
    return [*words, "--", fields["query"]]


@pytest.mark.parametrize("given", [{"budget_tokens": 0}, {"budget_tokens": -3}, {"max_chars": 0}])
def test_a_budget_below_1_names_the_least_that_works(engine: Engine, given: dict[str, int]) -> None:
    with pytest.raises(InvalidBudget, match="which holds no answer") as caught:
        engine.pack("basket", **given)
    least = caught.value.details
    names = {"min_tokens": "budget_tokens", "min_chars": "max_chars"}
    assert engine.pack("basket", **{names[name]: value for name, value in least.items()}).budget


def test_an_unknown_field_and_one_of_another_type_are_typed_errors(engine: Engine) -> None:
    for fields in ({"no_such": 1}, {"budget_tokens": "many"}, {"filters": 3}):
        with pytest.raises(InvalidRequest):
            engine.pack("basket", **fields)


def test_a_search_by_arguments_of_another_type_is_a_typed_error(engine: Engine) -> None:
    other: Any
    for other in (None, 3, b"basket"):
        with pytest.raises(InvalidQuery, match="must be text"):
            engine.search(other)
    for other in ("3", None, 2.5):
        with pytest.raises(InvalidRequest, match="must be a whole number"):
            engine.search("basket", k=other)


def test_a_render_that_is_no_function_is_a_typed_error(engine: Engine) -> None:
    render: Any = 3
    for ask in (engine.pack, engine.review):
        with pytest.raises(InvalidRequest, match="render is 3"):
            ask("basket" if ask == engine.pack else "HEAD", render=render)


def test_what_has_no_meaning_for_a_layout_is_refused() -> None:
    for fields in ({"mode": "edit_minimal"}, {"section_caps": {"tests": 1}}, {"max_candidates": 9}):
        for kind in ({"layout": "flat", "query": "basket"}, {"change": ""}):
            with pytest.raises(InvalidRequest, match="is not filled by sections"):
                PackRequest.of({**kind, **fields})
    with pytest.raises(InvalidRequest, match="a pack in sections takes no limit, prefer_code"):
        PackRequest.of({"query": "basket", "limit": 3, "prefer_code": True})


def test_a_pack_has_a_budget_also_if_none_is_given(engine: Engine) -> None:
    assert engine.pack("basket").budget.max_tokens == 4000
    assert engine.pack("basket", max_chars=3000).budget.max_tokens == 0


@pytest.mark.parametrize("layout", list(PackLayout))
def test_the_budget_counts_the_text_that_render_makes(engine: Engine, layout: PackLayout) -> None:
    for render in (plain_text, pack_format("markdown").render):
        pack = engine.pack("how is money added", render=render, layout=layout, max_chars=900)
        assert pack.items and len(render(pack)) == pack.budget.used_chars <= 900
    plain = engine.pack("how is money added", layout=layout, max_chars=900)
    assert len(plain_text(plain)) == plain.budget.used_chars


def test_the_command_and_the_engine_make_the_same_pack(engine: Engine, root: Path) -> None:
    render = pack_format("markdown").render
    mine = engine.pack("how is money added", render=render, budget_tokens=700)
    payload = {
        "project": str(root),
        "query": "how is money added",
        "format": "markdown",
        "budget_tokens": 700,
    }
    assert answer({"action": "pack", "payload": payload})["data"]["document"] == render(mine)
