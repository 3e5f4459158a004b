"""Whatever a pack shows is in every pack of a larger budget, in every format and for every tokenizer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import age, make_tree, memory_engine, session_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pack_cases import ACTIONS, Case, ask, draw
from random_repositories import make_repository

import satchel
from satchel.commands import context_pack
from satchel.engine import Engine
from satchel.errors import InvalidBudget
from satchel.packing.pack import Pack

_SOURCES = Path(satchel.__file__).parent  # a real repository, with documents of tests beside it
_TREES = ("packing", "own")
_REPORT = """Packs lose lines when the budget grows

I asked for a pack with `--budget-tokens 2000` and it showed the method `Gauge.fits` of src/satchel/packing/budget.py.
With a larger budget it was gone:

Traceback (most recent call last):
  File "satchel/packing/budget.py", line 120, in measure
  File "satchel/packing/items.py", line 40, in build
AssertionError: lines of the smaller pack are missing

Version: 0.1.0, Python 3.12, Linux x86_64. I expected the same items and some more.
"""
_QUESTIONS = (
    "how does a pack fit its budget",
    "Gauge",
    "who calls drop_near_copies",
    "where are the weights of the ranker read",
    _REPORT,
)
budgets = st.lists(st.integers(300, 20_000), min_size=2, max_size=5, unique=True).map(sorted)
tokenizer_names = st.sampled_from(("o200k", "cl100k", "claude", "chars4"))


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    made = make_repository(0) | make_repository(4) | make_repository(21)
    own = {
        str(path.relative_to(_SOURCES)): path.read_text()
        for folder in ("packing", "retrieval", "commands", "tokenizers")
        for path in sorted((_SOURCES / folder).rglob("*.py"))
    }
    trees = (made, own)
    found = {
        name: memory_engine(age(make_tree(tmp_path_factory.mktemp(name), files)))
        for name, files in zip(_TREES, trees, strict=True)
    }
    yield found
    for engine in found.values():
        engine.close()


def shown(pack: Pack) -> dict[str, set[int]]:
    lines: dict[str, set[int]] = defaultdict(set)
    for item in pack.items:
        lines[item.path].update(range(item.start_line, item.end_line + 1))
    return lines


def check(engine: Engine, case: Case, sizes: list[int], unit: str) -> int:
    """Ask for packs of growing budgets; return how many of them there were."""
    before: dict[str, set[int]] = {}
    count = 0
    for size in sizes:
        try:
            pack = ask(engine, case._replace(tokens=0, chars=0)._replace(**{unit: size})).pack
        except InvalidBudget:
            assert not count, "a larger budget holds what a smaller one holds"
            continue
        now = shown(pack)
        lost = {path: sorted(lines - now[path]) for path, lines in before.items() if lines - now[path]}
        assert not lost, (case, size, lost)
        before = now
        count += 1
    return count


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ACTIONS), st.sampled_from(_QUESTIONS), tokenizer_names, budgets)
def test_a_larger_budget_shows_all_that_a_smaller_one_shows(
    engines: dict[str, Engine], action: str, query: str, tokenizer: str, sizes: list[int]
) -> None:
    options = next(
        drawn.options
        for drawn in (draw(1, number) for number in range(99))
        if ("limit" in drawn.options) == (action == "context_pack")
    )
    check(engines["own"], Case(action, query, tokenizer, 0, 0, {}, options), sizes, "tokens")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 400), budgets, st.sampled_from(("tokens", "chars")))
def test_it_holds_for_any_request_and_either_unit(
    engines: dict[str, Engine], number: int, sizes: list[int], unit: str
) -> None:
    check(engines["packing"], draw(3, number), sizes, unit)


@pytest.mark.parametrize("action", ACTIONS)
def test_it_holds_token_by_token_where_a_number_gets_another_digit(
    engines: dict[str, Engine], action: str
) -> None:
    flat = action == "context_pack"
    options = next(
        drawn.options for drawn in (draw(2, n) for n in range(99)) if ("limit" in drawn.options) == flat
    )
    case = Case(action, _QUESTIONS[0], "o200k", 0, 0, {}, options)
    assert check(engines["own"], case, [*range(996, 1004), *range(9_997, 10_003)], "tokens") >= 6


@pytest.mark.parametrize("query", _QUESTIONS[:3])
def test_the_state_of_the_index_takes_no_room_from_items(engines: dict[str, Engine], query: str) -> None:
    """A small answer of the command leaves the state out."""
    before: dict[str, set[int]] = {}
    states = []
    for size in range(1200, 5200, 80):
        request = context_pack.ContextPackRequest(query=query, max_chars=size)
        answer = context_pack.run(session_of(engines["own"]), request)
        states.append(answer.meta.index_state is not None)
        now: dict[str, set[int]] = defaultdict(set)
        for item in answer.items:
            now[item.file].update(range(item.start_line, item.end_line + 1))
        assert all(lines <= now[path] for path, lines in before.items()), (query, size)
        before = now
    assert states == sorted(states) and len(set(states)) == 2
