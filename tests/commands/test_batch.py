"""Several actions in one call: order, references, one budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import SHOP, make_tree, session_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel import Engine, MemoryStore
from satchel.commands import batch
from satchel.commands.batch import BatchRequest, BatchResponse
from satchel.commands.payloads import resolve
from satchel.errors import InvalidBudget, InvalidRequest
from satchel.visible_json import compact

SEARCH = {"id": "found", "action": "search", "payload": {"query": "basket total price", "k": 2}}
FETCH = {"id": "text", "action": "get", "payload": {"ids": [{"$ref": "#/items/found/data/hits/0/id"}]}}
NO_SUCH = {"id": "bad", "action": "symbols", "payload": {"name": "no_such_name_anywhere"}}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    opened = Engine.open(make_tree(tmp_path_factory.mktemp("shop"), SHOP), store=MemoryStore())
    opened.refresh()
    yield opened


def ask(engine: Engine, *items: dict[str, Any], **fields: Any) -> BatchResponse:
    request = msgspec.convert({"items": list(items), **fields}, BatchRequest)
    answer: BatchResponse = batch.COMMAND.run(session_of(engine), request)  # type: ignore[arg-type]
    return answer


def test_a_later_item_takes_its_id_from_an_earlier_one(engine: Engine) -> None:
    found, text = ask(engine, SEARCH, FETCH).items
    assert text.data["chunks"][0]["id"] == found.data["hits"][0]["id"]


def test_one_failure_does_not_stop_the_others(engine: Engine) -> None:
    assert [item.status for item in ask(engine, NO_SUCH, SEARCH).items] == ["error", "ok"]


def test_it_stops_at_the_first_error_when_asked_to(engine: Engine) -> None:
    assert [item.id for item in ask(engine, NO_SUCH, SEARCH, stop_on_error=True).items] == ["bad"]


def test_a_reference_into_a_failed_item_is_an_error_unless_it_has_a_default(engine: Engine) -> None:
    reference = {"$ref": "#/items/bad/data/symbols/0/path"}
    plain = {"id": "a", "action": "search", "payload": {"query": reference}}
    with_default = {"id": "b", "action": "search", "payload": {"query": {**reference, "$default": "basket"}}}
    _, first, second = ask(engine, NO_SUCH, plain, with_default).items
    assert first.error and first.error["code"] == "invalid_request" and second.status == "ok"


def test_a_payload_that_is_no_object_fails_its_item_alone(engine: Engine) -> None:
    whole = {"id": "b", "action": "context_pack", "payload": {"$ref": "#/items/found/data/hits"}}
    found, answer, later = ask(engine, SEARCH, whole, FETCH).items
    assert answer.error and answer.error["code"] == "invalid_request"
    assert (found.status, later.status) == ("ok", "ok")


def test_an_item_changes_no_answer_that_it_refers_to(engine: Engine) -> None:
    alone = ask(engine, SEARCH).items[0].data
    for pointer in ("#/items/found/data", "#/items/found/data/hits/0"):
        whole = {"id": "b", "action": "context_pack", "payload": {"$ref": pointer}}
        assert ask(engine, SEARCH, whole).items[0].data == alone


def test_what_a_reference_brings_is_a_copy() -> None:
    answers, default = {"a": {"x": [1]}}, {"y": [1]}
    for reference in ({"$ref": "#/items/a/data"}, {"$ref": "#/items/b/data", "$default": default}):
        resolve(reference, answers).clear()
    assert (answers, default) == ({"a": {"x": [1]}}, {"y": [1]})


def test_a_batch_cannot_hold_a_batch(engine: Engine) -> None:
    inner = {"id": "x", "action": "batch", "payload": {"items": [SEARCH]}}
    (answer,) = ask(engine, inner).items
    assert answer.error and "inside a batch" in answer.error["message"]


@pytest.mark.parametrize(
    "items", [[], [SEARCH, SEARCH], [{**SEARCH, "id": "  "}], [{**SEARCH, "id": str(n)} for n in range(65)]]
)
def test_ids_are_unique_and_the_number_of_items_has_a_limit(engine: Engine, items: list[Any]) -> None:
    with pytest.raises(InvalidRequest):
        ask(engine, *items)


def test_ids_are_trimmed(engine: Engine) -> None:
    first, second = ask(engine, {**SEARCH, "id": "  found "}, FETCH).items
    assert (first.id, second.status) == ("found", "ok")


def test_a_pack_without_a_budget_gets_what_is_left(engine: Engine) -> None:
    pack = {"id": "pack", "action": "context_pack", "payload": {"query": "basket total"}}
    answer = ask(engine, SEARCH, pack, max_chars=6000)
    assert [item.status for item in answer.items] == ["ok", "ok"]
    assert answer.items[1].data["budget"]["max_chars"] < 6000


@pytest.mark.parametrize("name", ["context", "json", "sections", "xml"])
@pytest.mark.parametrize("max_chars", [2500, 4000])
def test_a_pack_in_any_format_gets_what_is_left(engine: Engine, name: str, max_chars: int) -> None:
    pack = {"id": "pack", "action": "pack", "payload": {"query": "basket total", "format": name}}
    (answer,) = ask(engine, pack, max_chars=max_chars).items
    assert answer.status == "ok" and answer.data["items"]


def test_what_does_not_fit_is_replaced_by_an_error_that_names_what_it_takes(engine: Engine) -> None:
    whole = ask(engine, SEARCH, FETCH)
    states = sum(len(compact(item.meta["index_state"])) - len("null") for item in whole.items)
    answer = ask(engine, SEARCH, FETCH, max_chars=whole.budget.used_chars - states - 1)
    error = answer.items[1].error
    assert answer.items[0].status == "ok" and answer.budget.truncated
    assert error and error["code"] == "invalid_budget"
    assert ask(engine, SEARCH, FETCH, max_chars=error["details"]["min_chars"]).items[1].status == "ok"


def packs(*actions: str) -> list[dict[str, Any]]:
    return [
        {"id": f"p{place}", "action": action, "payload": {"query": "basket total price"}}
        for place, action in enumerate(actions)
    ]


@pytest.mark.parametrize(
    "items",
    [
        packs("context_pack", "build_context_pack"),
        packs("build_context_pack", "context_pack", "build_context_pack"),
        [*packs("context_pack"), SEARCH, FETCH],
        [SEARCH, *packs("build_context_pack", "pack"), FETCH],
        packs(*["context_pack"] * 9),
    ],
)
@pytest.mark.parametrize("max_chars", [1200, 2200, 3000, 4500])
def test_the_least_that_a_batch_names_holds_every_item_that_had_no_room(
    engine: Engine, items: list[dict[str, Any]], max_chars: int
) -> None:
    try:
        answer = ask(engine, *items, max_chars=max_chars)
    except InvalidBudget as error:
        answer = ask(engine, *items, max_chars=error.details["min_chars"])
    starved = {
        item.id: item.error["details"]["min_chars"]
        for item in answer.items
        if item.error and item.error["code"] == "invalid_budget"
    }
    if starved:
        (least,) = set(starved.values())
        again = ask(engine, *items, max_chars=least)
        assert answer.budget.truncated and answer.budget.max_chars < least
        assert starved.keys() <= {item.id for item in again.items if item.status == "ok"}
        assert again.budget.used_chars <= least


def test_packs_without_budgets_share_what_is_left(engine: Engine) -> None:
    answer = ask(engine, *packs("context_pack", "build_context_pack"), max_chars=5000)
    assert [item.status for item in answer.items] == ["ok", "ok"]
    assert all(item.data.get("items") or item.data.get("sections") for item in answer.items)


def test_a_batch_without_room_gives_the_retry_that_works(engine: Engine) -> None:
    long = {"id": "long", "action": "search", "payload": {"query": "basket price", "k": 50, "explain": True}}
    answer = ask(engine, *packs("context_pack"), long, max_chars=4000)
    assert [item.status for item in answer.items] == ["ok", "error"]
    (retry,) = answer.next_actions
    again = ask(engine, *retry["args"]["items"], max_chars=retry["args"]["max_chars"])
    assert retry["tool"] == "batch" and [item.status for item in again.items] == ["ok"] * 2


def test_a_failed_item_that_has_no_room_for_the_retry_still_says_why(engine: Engine) -> None:
    small = {"id": "p", "action": "context_pack", "payload": {"query": "basket " * 99, "max_chars": 9}}
    wide, narrow = ask(engine, small), ask(engine, small, max_chars=900)
    assert wide.next_actions and not narrow.next_actions
    assert narrow.items[0].message == wide.items[0].message and not narrow.budget.truncated


def test_a_budget_below_the_envelope_names_the_least_one_that_works(engine: Engine) -> None:
    with pytest.raises(InvalidBudget) as caught:
        ask(engine, SEARCH, FETCH, max_chars=10)
    least = caught.value.details["min_chars"]
    assert ask(engine, SEARCH, FETCH, max_chars=least).budget.used_chars <= least


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(max_chars=st.integers(600, 30_000), count=st.integers(1, 4), with_bad=st.booleans())
def test_the_whole_answer_is_never_above_its_budget(
    engine: Engine, max_chars: int, count: int, with_bad: bool
) -> None:
    packs = [
        {"id": f"p{n}", "action": "context_pack", "payload": {"query": "basket price"}} for n in range(count)
    ]
    try:
        answer = ask(engine, SEARCH, *packs, *([NO_SUCH] if with_bad else []), max_chars=max_chars)
    except InvalidBudget as error:
        assert error.details["min_chars"] > max_chars
        return
    used = len(msgspec.json.encode(answer).decode())
    assert used == answer.budget.used_chars <= max_chars


def test_what_a_reference_brings_is_never_resolved_itself() -> None:
    hostile = {"$ref": "#/items/a/data/secret"}
    assert resolve([{"$ref": "#/items/a/data/x"}], {"a": {"x": hostile, "secret": 1}}) == [hostile]


def test_other_keys_beside_it_make_it_a_literal() -> None:
    literal = {"$ref": "#/items/a/data", "note": 1}
    assert resolve(literal, {"a": 1}) == literal


@pytest.mark.parametrize("pointer", ["#/items/a", "#/items/a/meta/x", "/items/a/data", "", 7, None, ["#"]])
def test_a_pointer_to_anything_but_data_is_refused(pointer: Any) -> None:
    with pytest.raises(InvalidRequest):
        resolve({"$ref": pointer, "$default": 1}, {"a": {"x": 1}})


@given(
    st.dictionaries(st.text(min_size=1), st.lists(st.integers(), min_size=1), min_size=1), st.text(min_size=1)
)
def test_every_value_can_be_reached_by_its_pointer(data: dict[str, list[int]], name: str) -> None:
    def escaped(text: str) -> str:
        return text.replace("~", "~0").replace("/", "~1")

    for key, values in data.items():
        for place, value in enumerate(values):
            pointer = f"#/items/{escaped(name)}/data/{escaped(key)}/{place}"
            assert resolve({"$ref": pointer}, {name: data}) == value


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_holds_no_reference_stays_as_it_is(value: Any) -> None:
    if "$ref" not in json.dumps(value):
        assert resolve(value, {}) == value


def test_an_item_sees_the_index_that_an_earlier_one_made(tmp_path: Path) -> None:
    with Engine.open(make_tree(tmp_path, SHOP)) as engine:
        answer = ask(engine, {"id": "i", "action": "index"}, SEARCH)
    assert [item.status for item in answer.items] == ["ok", "ok"]
