"""Likeness: the same names as difflib finds, in the same order."""

from __future__ import annotations

from difflib import get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.fuzzy_match import Spelled, nearest

NAMES = st.text(alphabet="abcé_.🙂", max_size=8)


@given(wanted=NAMES.filter(bool), names=st.lists(NAMES, unique=True, max_size=40))
def test_the_nearest_are_the_close_matches(wanted: str, names: list[str]) -> None:
    assert nearest(wanted, Spelled(names)) == get_close_matches(wanted, names, 3, 0.6)


def test_of_many_names_the_best_come_first() -> None:
    names = ["session.py", "sessions.py", "seasons.py", "base.py", "session_store.py"]
    assert nearest("session.py", Spelled(names)) == ["session.py", "sessions.py", "seasons.py"]
