"""The fuzzy matcher: the same names as difflib finds, in the same order; the paths most like another one."""

from __future__ import annotations

from difflib import get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.fuzzy_match import NameMatcher, PathMatcher

NAMES = st.text(alphabet="abcé_.🙂", max_size=8)


@given(wanted=NAMES.filter(bool), names=st.lists(NAMES, unique=True, max_size=40))
def test_the_nearest_are_the_close_matches(wanted: str, names: list[str]) -> None:
    assert NameMatcher(names).nearest(wanted) == get_close_matches(wanted, names, 3, 0.6)


def test_of_many_names_the_best_come_first() -> None:
    names = ["session.py", "sessions.py", "seasons.py", "base.py", "session_store.py"]
    assert NameMatcher(names).nearest("session.py") == ["session.py", "sessions.py", "seasons.py"]


@given(wanted=NAMES.filter(bool), names=st.lists(NAMES, unique=True, max_size=40))
def test_count_and_least_similarity_are_those_of_difflib(wanted: str, names: list[str]) -> None:
    assert NameMatcher(names).nearest(wanted, 6, 0.7) == get_close_matches(wanted, names, 6, 0.7)


def test_a_path_is_near_by_its_file_name_then_by_its_folders() -> None:
    matcher = PathMatcher(["src/shop/basket.py", "old/basket.py", "src/shop/baskets.py", "src/till.py"])
    assert matcher.nearest("src/shops/basket.py", 3) == ["src/shop/basket.py", "old/basket.py"]
    assert matcher.nearest("src/shop/baskett.py", 1) == ["src/shop/basket.py"]
    assert matcher.nearest("nothing/like/it.rs", 3) == []
