"""Guidance: what a pack says is missing is missing, and what it proposes works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from builders import age, make_tree, memory_engine
from pack_cases import ACTIONS, Case, ask, draw
from random_repositories import make_repository

from satchel.engine import Engine
from satchel.packing.pack import DropReason
from satchel.packing.sections import PackMode, Section

QUESTIONS = ("basket total price", "session token cache", "how is the ledger refund queued", "window_retry")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    files = make_repository(0) | make_repository(4) | make_repository(21)
    return memory_engine(age(make_tree(tmp_path_factory.mktemp("guidance"), files)))


def case(action: str, query: str, **others: object) -> Case:
    found = (draw(1, number) for number in range(500))
    one = next(drawn for drawn in found if ("limit" in drawn.options) == (action == "context_pack"))
    options = (
        {"limit": 10}
        if action == "context_pack"
        else {"mode": PackMode.FULL, "section_caps": {}, "max_candidates": 72}
    )
    return one._replace(action=action, query=query, filters={}, options=options, tokens=0, chars=0)._replace(
        **others
    )


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("query", QUESTIONS)
@pytest.mark.parametrize("budget", [{"tokens": 900}, {"chars": 4000}, {"tokens": 1500, "chars": 5000}])
def test_the_budget_that_a_hint_names_holds_what_did_not_fit(
    engine: Engine, action: str, query: str, budget: dict[str, int]
) -> None:
    asked = case(action, query, **budget)
    answer = ask(engine, asked)
    told = [hint for hint in answer.pack.hints if "did not fit" in hint or "in part" in hint]
    for flag, unit in (("--budget-tokens", "tokens"), ("--max-chars", "chars")):
        for number in re.findall(rf"{flag} (\d+)", " ".join(told)):
            asked = asked._replace(**{unit: int(number)})
    if told:
        counts = ask(engine, asked).pack.counts
        assert not counts.dropped.get(DropReason.BUDGET, 0) and not counts.cut


@pytest.mark.parametrize("action", ACTIONS)
def test_a_passage_that_is_cut_to_fit_is_said(action: str, tmp_path: Path) -> None:
    body = "".join(f"    x = step_{number}(x, 'some words')\n" for number in range(60))
    engine = memory_engine(age(make_tree(tmp_path, {"a.py": f"def alpha(x):\n{body}    return x\n"})))
    pack = ask(engine, case(action, "alpha", tokens=600)).pack
    assert pack.counts.cut == 1 and not pack.counts.dropped and "part" in pack.items[0].reasons
    assert any(hint.startswith("1 shown in part; --budget-tokens ") for hint in pack.hints)


@pytest.mark.parametrize("action", [action for action in ACTIONS if action != "context_pack"])
def test_naming_files_takes_a_fifth_of_the_room_at_most(engine: Engine, action: str) -> None:
    pack = ask(engine, case(action, QUESTIONS[0], tokens=3000)).pack
    shown = [item for item in pack.items if item.reasons != ("map",)]
    assert sum(len(item.content) for item in shown) > 3000


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("query", ["zzqq wwyy", "!!!"])
def test_a_pack_that_found_nothing_says_so(engine: Engine, action: str, query: str) -> None:
    pack = ask(engine, case(action, query, tokens=900)).pack
    assert not pack.items and pack.hints == ("nothing in this index matches",)


def test_a_pack_that_a_filter_left_empty_names_the_filter_and_what_is_without_it(engine: Engine) -> None:
    pack = ask(engine, case("context", "basket total", tokens=900, filters={"path_prefix": "no_such"})).pack
    assert pack.hints == ("nothing in this index matches with the filter path_prefix",)
    assert "match without the filter" in pack.next_queries[0].reason


def test_a_hint_counts_what_its_section_left_out(engine: Engine) -> None:
    asked = case("context", QUESTIONS[0], tokens=60_000)
    pack = ask(engine, asked._replace(options=asked.options | {"section_caps": {"definitions": 0}})).pack
    dropped = pack.counts.dropped_by_section[Section.DEFINITIONS]
    assert f"definitions: none is shown, {dropped} left out" in pack.hints and dropped > 1


def test_caps_that_exclude_everything_are_the_reason_that_is_given(engine: Engine) -> None:
    asked = case("context", QUESTIONS[0], tokens=4000)
    pack = ask(
        engine, asked._replace(options=asked.options | {"section_caps": dict.fromkeys(Section, 0)})
    ).pack
    assert pack.items == () and set(pack.counts.dropped) == {DropReason.CAP}
    assert not any("did not fit" in hint for hint in pack.hints)


def test_a_folder_that_is_proposed_has_as_many_items_as_is_said(engine: Engine) -> None:
    pack = ask(engine, case("context", QUESTIONS[0], tokens=20_000)).pack
    for hint in pack.hints:
        if match := re.match(r"--include (\S+) asks only where (\d+) of", hint):
            inside = [item for item in pack.items if item.path.rpartition("/")[0] == match[1]]
            assert len(inside) == int(match[2])


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_next_query_is_a_name_that_this_index_defines_elsewhere(engine: Engine, query: str) -> None:
    pack = ask(engine, case("context", query, tokens=2000)).pack
    for proposed in pack.next_queries:
        path, _, line = re.sub(r".*defined at ", "", proposed.reason).rpartition(":")
        assert any(record.path == path for record in engine.symbols(proposed.query)) or not pack.items
        assert not any(
            item.path == path and item.start_line <= int(line) <= item.end_line for item in pack.items
        )


@pytest.mark.parametrize("query", QUESTIONS)
def test_what_did_not_fit_is_fetched_by_one_proposed_call(engine: Engine, query: str) -> None:
    pack = ask(engine, case("context", query, tokens=2500)).pack
    (proposed,) = [hint.removeprefix("get ") for hint in pack.hints if hint.startswith("get ")]
    found = engine.find(shlex.split(proposed))
    assert found and all(one.chunk is not None for one in found)
    for one in found:
        assert one.chunk is not None
        shown = [
            item
            for item in pack.items
            if item.path == one.chunk.path
            and item.start_line <= one.chunk.start_line
            and one.chunk.end_line <= item.end_line
        ]
        assert not shown, one.chunk


def test_lines_that_are_shown_are_not_proposed_again(tmp_path: Path) -> None:
    body = "".join(f"    x = step_{number}(x, 'some words')\n" for number in range(60))
    engine = memory_engine(age(make_tree(tmp_path, {"a.py": f"def alpha(x):\n{body}    return x\n"})))
    pack = ask(engine, case("context", "alpha", tokens=600)).pack
    (shown,) = pack.items
    assert shown.start_line == 1
    assert f"get a.py:{shown.end_line + 1}:62" in pack.hints


def test_a_section_that_promises_little_is_not_called_missing(tmp_path: Path) -> None:
    files = {
        "shop/basket.py": "def basket_total(prices):\n    return sum(prices)\n",
        "docs/notes.md": "# Notes\n\nThe total is printed on paper.\n" + "Nothing else matters here.\n" * 30,
    }
    engine = memory_engine(age(make_tree(tmp_path, files)))
    pack = ask(engine, case("context", "basket_total", tokens=130)).pack
    assert pack.items and not [hint for hint in pack.hints if "none is shown" in hint]
