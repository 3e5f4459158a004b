"""What is paid until everything was seen: answers added up, the ceiling, and what is not read twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from satchel.evaluation.policies import CEILING, CallAnswer, answer_of_lines, tokens_until_seen

FIRST = answer_of_lines("a.py", 1, ["one\n", "two\n"])
SECOND = answer_of_lines("a.py", 2, ["two\n", "three\n"])


def test_an_answer_cites_its_lines() -> None:
    assert ("a.py:2:3\ntwo\nthree\n", {("a.py", 2), ("a.py", 3)}) == SECOND


def test_tokens_add_up_to_the_answer_that_shows_the_last_line() -> None:
    wanted = {("a.py", 1), ("a.py", 3)}
    paid = len(FIRST.text) + len(SECOND.text)
    assert tokens_until_seen(wanted, [FIRST, SECOND, FIRST], len) == paid
    assert tokens_until_seen({("a.py", 2)}, [FIRST, SECOND], len) == len(FIRST.text)


def test_what_shows_nothing_new_is_not_paid_for_again() -> None:
    again = answer_of_lines("a.py", 1, ["one\n"])
    paid = len(FIRST.text) + len(SECOND.text)
    assert tokens_until_seen({("a.py", 3)}, [FIRST, again, FIRST, SECOND], len) == paid


@pytest.mark.parametrize(("size", "reached"), [(CEILING, True), (CEILING + 1, False)])
def test_the_ceiling_itself_is_reached_and_no_more(size: int, reached: bool) -> None:
    found = tokens_until_seen({("a.py", 1)}, [FIRST], lambda text: size)
    assert (found is not None) is reached


def test_nothing_is_read_after_the_ceiling_and_no_huge_text_is_counted() -> None:
    def answers() -> Iterator[CallAnswer]:
        yield CallAnswer("x" * (CEILING * 8 + 1), frozenset({("b.py", 1)}))
        raise AssertionError("read on")

    def count(text: str) -> int:
        raise AssertionError("counted")

    assert tokens_until_seen({("a.py", 1)}, answers(), count) is None


def test_lines_that_nothing_shows_are_never_reached() -> None:
    assert tokens_until_seen({("a.py", 9)}, [FIRST, SECOND], len) is None
