"""Questions that lead to each other in circles: each is answered in few steps, and in the same way each time."""

from __future__ import annotations

from satchel.code_facts import Rule
from satchel.graph.answers import Answer
from satchel.graph.interfaces import Definition
from satchel.graph.modules.module_system import ModuleSystem
from satchel.graph.questions import Questions

TYPES = 30  # in a circle of all with all there are 30! ways


class Circle(Questions):
    """Each type asks all others; one of them is known."""

    def __init__(self) -> None:
        super().__init__(ModuleSystem(), lambda path: None)
        self.steps = 0

    def _find(self, path: str, kind: str, written: str) -> Answer | None:
        self.steps += 1
        if written == f"T{TYPES - 1}":
            return Answer(Definition("known.rs", "Known"), Rule.SCOPE)
        found = [self._guarded(path, kind, f"T{number}") for number in range(TYPES)]
        return next((answer for answer in found if answer is not None), None)

    def ask(self, number: int) -> Answer | None:
        return self._guarded("a.rs", "value", f"T{number}")


def test_types_that_all_refer_to_each_other_are_gone_through_once() -> None:
    circle = Circle()
    assert circle.ask(0) == Answer(Definition("known.rs", "Known"), Rule.SCOPE)
    assert circle.steps <= TYPES


def test_an_answer_that_a_circle_cut_short_is_not_kept_for_the_next_question() -> None:
    circle = Circle()
    first = circle.ask(0)
    assert [circle.ask(number) for number in range(TYPES)] == [first] * TYPES
    assert circle.steps <= TYPES * TYPES
