"""PassageSelection: caps are shares that no section may exceed while others wait, and every candidate has its fate."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from satchel.packing.pack import DropReason
from satchel.packing.sections import Section
from satchel.packing.selection import PassageSelection, SelectedPassage
from satchel.types import ChunkKind, Passage

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


class Room:
    """Takes picks while there is room, and remembers what it was offered."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.offered: list[SelectedPassage] = []

    def take(self, one: SelectedPassage) -> bool:
        self.offered.append(one)
        size = one.passage.size if one.whole else 10 * (one.end_line - one.start_line + 1)
        fits = size <= self.room
        self.room -= size if fits else 0
        return fits


def first_lines(passage: Passage, chars: int) -> tuple[int, int]:
    return passage.start_line, min(passage.end_line, passage.start_line + chars // 300)


promises = st.floats(0.1, 1.0, allow_nan=False)
candidates = st.lists(st.tuples(promises, st.integers(50, 3000), st.sampled_from(SECTIONS)), max_size=40)
caps_of_sections = st.fixed_dictionaries({section: st.integers(0, 4) for section in SECTIONS})


def selected(
    found: list[tuple[float, int, Section]],
    caps: dict[Section, int],
    room: Room,
    *,
    files: int = 0,
    limit: int = 0,
    rounds: int = 1,
) -> PassageSelection:
    passages = [passage(number, promise, size) for number, (promise, size, _) in enumerate(found)]
    selection = PassageSelection(
        passages, [section for *_, section in found], caps, room.take, first_lines, lambda: 10**6
    )
    selection.name_files(files)
    for _ in range(rounds):
        selection.fill(limit)
    return selection


@given(
    candidates,
    caps_of_sections,
    st.integers(0, 20_000),
    st.integers(0, 7),
    st.integers(0, 9),
    st.integers(1, 3),
)
def test_every_candidate_is_taken_or_dropped_never_both(
    found: list[tuple[float, int, Section]],
    caps: dict[Section, int],
    space: int,
    files: int,
    limit: int,
    rounds: int,
) -> None:
    selection = selected(found, caps, Room(space), files=files, limit=limit, rounds=rounds)
    assert sorted((*selection.selected, *selection.dropped)) == list(range(len(found)))


@given(candidates, caps_of_sections)
def test_a_cap_of_nothing_leaves_a_section_empty(
    found: list[tuple[float, int, Section]], caps: dict[Section, int]
) -> None:
    selection = selected(found, caps, Room(10**6), files=5)
    assert all(caps[one.section] for one in selection.selected.values())
    dropped = [number for number, reason in selection.dropped.items() if reason is DropReason.CAP]
    assert dropped == [number for number, (*_, section) in enumerate(found) if not caps[section]]


@given(candidates, caps_of_sections)
def test_a_section_goes_over_its_cap_only_after_all_others_were_asked(
    found: list[tuple[float, int, Section]], caps: dict[Section, int]
) -> None:
    room = Room(10**6)
    selected(found, caps, room)
    taken: Counter[Section] = Counter()
    waiting = Counter(section for *_, section in found if caps[section])
    for one in room.offered:
        if taken[one.section] >= caps[one.section]:
            assert not any(taken[other] < min(caps[other], waiting[other]) for other in SECTIONS)
        taken[one.section] += 1


def test_room_that_is_left_is_filled_over_the_caps() -> None:
    found = [(1.0, 400, Section.DEFINITIONS)] * 12
    selection = selected(found, dict.fromkeys(Section, 2), Room(10 * 400))
    assert len(selection.selected) == 10 and set(selection.dropped.values()) == {DropReason.BUDGET}


def test_what_does_not_fit_is_passed_over_and_a_smaller_passage_still_taken() -> None:
    found = [(1.0, 3000, Section.DOCS), (0.2, 200, Section.DOCS)]
    selection = selected(found, dict.fromkeys(Section, 5), Room(250))
    assert [one.passage.size for one in selection.selected.values() if one.whole] == [200]


def test_the_most_promising_passage_leads_then_what_promises_more_for_its_size() -> None:
    found = [(0.5, 2000, Section.DOCS), (1.0, 3000, Section.DOCS), (0.4, 300, Section.DOCS)]
    selection = selected(found, dict.fromkeys(Section, 5), Room(10**6))
    assert [one.passage.size for one in selection.selected.values()] == [3000, 300, 2000]


def test_a_limit_counts_passages_and_is_said() -> None:
    selection = selected([(1.0, 300, Section.DOCS)] * 5, dict.fromkeys(Section, 9), Room(10**6), limit=2)
    assert len(selection.selected) == 2 and list(selection.dropped.values()) == [DropReason.LIMIT] * 3


def test_a_limit_takes_the_most_promising_passages_however_long_they_are() -> None:
    found = [(0.9, 3000, Section.DOCS), (0.1, 60, Section.DOCS), (1.0, 900, Section.DOCS)]
    selection = selected(found, dict.fromkeys(Section, 9), Room(10**6), limit=2)
    assert sorted(one.passage.promise for one in selection.selected.values()) == [0.9, 1.0]


def test_what_says_next_to_nothing_is_dropped_as_weak() -> None:
    found = [(1.0, 300, Section.DOCS), (0.00001, 300, Section.DOCS)]
    assert selected(found, dict.fromkeys(Section, 9), Room(10**6)).dropped == {1: DropReason.WEAK}
