"""PassageOrder: caps are shares that no section may exceed while others wait; parts grow; names are due in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from satchel.packing.pack import DropReason
from satchel.packing.passage_order import PassageOrder
from satchel.packing.sections import Section
from satchel.packing.selection import PackPlan, SelectedPassage
from satchel.storage.records import FileRecord
from satchel.types import ChunkKind, LineRange, Passage

SECTIONS = list(Section)


def passage(number: int, promise: float, size: int = 400) -> Passage:
    return Passage(
        path=f"f{number % 7}.py",
        start_line=number * 10 + 1,
        end_line=number * 10 + 9,
        rank=number % 7,
        promise=promise,
        score=1.0,
        size=size,
        chunk_id=str(number),
        kind=ChunkKind.FUNCTION,
        name="f",
        language="python",
        tags=(),
        head=(number * 10 + 1, number * 10 + 1),
        whole=True,
        defines=True,
        named=False,
        asked=True,
        only_imports=False,
        reasons=("words",),
        names=((number * 10 + 1, ChunkKind.FUNCTION, "f"),),
    )


class Reader:
    """Reads files of lines of 30 characters, but for those of `long`; the best lines are the first ones."""

    def __init__(self, long: dict[tuple[str, int], int] | None = None) -> None:
        self.long = long or {}

    def lines(self, path: str) -> Sequence[str]:
        return ["x" * self.long.get((path, number), 30) + "\n" for number in range(1, 900)]

    def record(self, path: str) -> FileRecord:
        raise AssertionError("the order needs no record")

    def imports(self, path: str, content: str) -> tuple[str, ...]:
        return ()

    def best_definition(self, passage: Passage) -> LineRange:
        return passage.start_line + 2, passage.end_line - 2

    def best_lines(self, path: str, within: LineRange, chars: int) -> LineRange:
        return within[0] + 1, within[0] + 1

    def signature(self, path: str, line: int) -> LineRange:
        return line - 1, line - 1

    def naming_line(self, passage: Passage) -> int:
        return passage.head[0]


promises = st.floats(0.1, 1.0, allow_nan=False)
candidates = st.lists(st.tuples(promises, st.integers(50, 3000), st.sampled_from(SECTIONS)), max_size=40)
caps_of_sections = st.fixed_dictionaries({section: st.integers(0, 4) for section in SECTIONS})


def order_of(
    found: list[tuple[float, int, Section]],
    caps: dict[Section, int],
    *,
    chars_per_name: int = 0,
    limit: int = 0,
    long: dict[tuple[str, int], int] | None = None,
) -> PassageOrder:
    passages = [passage(number, promise, size) for number, (promise, size, _) in enumerate(found)]
    plan = PackPlan(caps, chars_per_name=chars_per_name, limit=limit)
    return PassageOrder(passages, [section for *_, section in found], plan, Reader(long), 120)


def places(steps: Sequence[SelectedPassage]) -> list[int]:
    """The numbers of the passages of some steps."""
    return [int(step.passage.chunk_id) for step in steps]


@given(candidates, caps_of_sections, st.integers(0, 9))
def test_every_candidate_has_its_turn_once_or_is_barred(
    found: list[tuple[float, int, Section]], caps: dict[Section, int], limit: int
) -> None:
    order = order_of(found, caps, limit=limit)
    steps = places(list(order.steps()))
    assert sorted((*steps, *order.barred)) == list(range(len(found)))


@given(candidates, caps_of_sections)
def test_a_cap_of_nothing_leaves_a_section_empty(
    found: list[tuple[float, int, Section]], caps: dict[Section, int]
) -> None:
    order = order_of(found, caps, chars_per_name=1000)
    assert all(caps[step.section] for step in order.steps())
    barred = [number for number, reason in order.barred.items() if reason is DropReason.CAP]
    assert barred == [number for number, (*_, section) in enumerate(found) if not caps[section]]


@given(candidates, caps_of_sections)
def test_a_section_goes_over_its_cap_only_after_all_others_had_their_turn(
    found: list[tuple[float, int, Section]], caps: dict[Section, int]
) -> None:
    taken: Counter[Section] = Counter()
    waiting = Counter(section for *_, section in found if caps[section])
    for step in order_of(found, caps).steps():
        if taken[step.section] >= caps[step.section]:
            assert not any(taken[other] < min(caps[other], waiting[other]) for other in SECTIONS)
        taken[step.section] += 1


def test_the_most_promising_passage_leads_then_what_promises_more_for_its_size() -> None:
    found = [(0.5, 2000, Section.DOCS), (1.0, 3000, Section.DOCS), (0.4, 300, Section.DOCS)]
    assert places(list(order_of(found, dict.fromkeys(Section, 5)).steps())) == [1, 2, 0]


def test_the_best_code_follows_a_document_that_leads_however_faint_it_is() -> None:
    found = [
        (1.0, 300, Section.DOCS),
        (0.04, 300, Section.DOCS),
        (0.03, 900, Section.DEFINITIONS),
        (0.01, 300, Section.KEY_USAGES),
    ]
    order = order_of(found, dict.fromkeys(SECTIONS, 4))
    assert places(list(order.steps())) == [0, 2, 1, 3]


def test_files_that_promise_next_to_nothing_are_named_only_if_they_are_among_the_first() -> None:
    found = [(1.0, 3000, Section.DEFINITIONS), *[(0.001, 300, Section.KEY_USAGES)] * 6]
    steps = order_of(found, dict.fromkeys(SECTIONS, 4), chars_per_name=100).steps()
    assert places([step for step in steps if step.is_name]) == [1, 2, 3, 4]


def test_a_limit_leaves_the_most_promising_and_is_said() -> None:
    found = [(0.5 + number / 100, 300, Section.DOCS) for number in range(5)]
    order = order_of(found, dict.fromkeys(Section, 9), limit=2)
    assert places(list(order.steps())) == [4, 3]
    assert order.barred == dict.fromkeys((2, 1, 0), DropReason.LIMIT)


def test_a_passage_with_a_long_line_waits_until_it_is_a_small_share() -> None:
    found = [(1.0, 5000, Section.DOCS), *[(0.5, 2000, Section.DOCS)] * 12]
    order = order_of(found, dict.fromkeys(Section, 99), long={("f0.py", 3): 4900})
    steps = places(list(order.steps()))
    assert steps.index(0) == 9  # 400 + 9 * (2000 + 120) / 4 are more than 4900 characters


def test_parts_of_a_passage_grow_from_its_best_definition_up_to_the_whole() -> None:
    order = order_of([(1.0, 3000, Section.DOCS)], dict.fromkeys(Section, 9))
    whole = with_lines(next(order.steps()), 1, 200)
    parts = list(order.parts(whole))
    ranges = [(part.start_line, part.end_line) for part in parts]
    assert ranges[0] == (4, 4) and len(ranges) > 5
    assert all(one[0] >= two[0] and one[1] <= two[1] and one != two for one, two in pairwise(ranges))
    assert {part.signature for part in parts} == {(3, 3)}
    growth = [two[1] - two[0] + 1 for two in ranges]
    assert all(after <= 2 * before + 2 for before, after in pairwise(growth[4:]))


def test_files_are_named_the_more_of_them_the_more_is_shown() -> None:
    found = [(1.0 / (number + 1), 1000, Section.DEFINITIONS) for number in range(7)]
    steps = list(order_of(found, dict.fromkeys(Section, 9), chars_per_name=1000).steps())
    named = [number for number, step in enumerate(steps) if step.is_name]
    assert named and not steps[0].is_name  # one part in five
    assert all(
        step.passage.path not in {other.passage.path for other in steps[:number]}
        for number, step in enumerate(steps)
        if step.is_name
    )


def with_lines(step: SelectedPassage, first: int, last: int) -> SelectedPassage:
    """The step with a passage of other lines."""
    lines = {"start_line": first, "end_line": last}
    return msgspec.structs.replace(step, passage=msgspec.structs.replace(step.passage, **lines), **lines)
