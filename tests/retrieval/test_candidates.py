"""Candidates: the best by words, and what the query names or means, as far as filters allow."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.engine import Engine
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import gather_evidence

BASKETS = {f"a{number}.md": "# Basket\n\nbasket basket basket\n" for number in range(12)}
ODD = {
    "odd/drawer.py": "class CoinSlot:\n    shape = 1\n",
    "odd/lever.md": "The grey lever.\n",
    "tests/test_basket.py": "basket = 1\n",
}


@pytest.fixture
def engine(tmp_path: Path, without_vectors: None) -> Engine:
    return memory_engine(make_tree(tmp_path, {**BASKETS, **ODD}))


def find(engine: Engine, query: str, count: int, without: str = "") -> list[str]:
    filters = Filters(exclude_paths=(without,) if without else ())
    context = gather_evidence(engine.corpus(), query, filters, count)
    paths = [record.path for record in context.records] if context is not None else []
    assert paths == sorted(set(paths))
    return paths


def test_only_files_that_hold_a_word_are_candidates(engine: Engine) -> None:
    assert set(find(engine, "basket", 100)) == {*BASKETS, "tests/test_basket.py"}
    assert find(engine, "qqqq", 100) == []


def test_there_are_no_more_than_asked_for(engine: Engine) -> None:
    assert len(find(engine, "basket", 5)) == 5


def test_equal_files_are_taken_by_path(tmp_path: Path, without_vectors: None) -> None:
    engine = memory_engine(make_tree(tmp_path, BASKETS))
    assert find(engine, "basket", 3) == sorted(BASKETS)[:3]


def test_tests_come_after_the_rest(engine: Engine) -> None:
    assert "tests/test_basket.py" not in find(engine, "basket", len(BASKETS))


@pytest.mark.parametrize(
    "query",
    [
        "basket basket\n\nbasket in odd/drawer.py",
        "basket basket basket `CoinSlot`",
        'basket fails\n\nTraceback (most recent call last):\n  File "/app/odd/drawer.py", line 1, in shape\n',
    ],
)
def test_a_file_that_the_query_names_comes_in(engine: Engine, query: str) -> None:
    assert "odd/drawer.py" not in find(engine, "basket", 1)
    assert "odd/drawer.py" in find(engine, query, 1)


def test_a_filter_shuts_out_what_is_named(engine: Engine) -> None:
    query = "basket basket basket `CoinSlot` in odd/drawer.py"
    assert "odd/drawer.py" not in find(engine, query, 100, without="odd/drawer.py")


def test_a_name_that_many_files_have_brings_none_of_them_in(tmp_path: Path, without_vectors: None) -> None:
    tree = {f"n{number}/drawer.py": "class CoinSlot:\n    shape = 1\n" for number in range(9)}
    engine = memory_engine(make_tree(tmp_path, {**BASKETS, **tree}))
    assert len(find(engine, "basket basket basket `CoinSlot` in drawer.py", 1)) == 1


MEANING = {
    "asked.py": "delete = 1\n",
    "far.py": "def send_packet(socket):\n    route(socket, packet)\n",
    "near.py": "def remove(rm):\n    rm.remove(rm)\n",
}


def test_a_file_that_is_near_in_meaning_comes_in_and_a_far_one_does_not(tmp_path: Path) -> None:
    found = find(memory_engine(make_tree(tmp_path, MEANING)), "delete", 1)
    assert found == ["asked.py", "near.py"]


def test_near_files_obey_filters(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, MEANING))
    assert find(engine, "delete", 1, without="near.py") == ["asked.py"]


def test_without_vectors_no_file_is_near(tmp_path: Path, without_vectors: None) -> None:
    engine = memory_engine(make_tree(tmp_path, MEANING))
    assert engine.corpus().file_vectors is None and find(engine, "delete", 1) == ["asked.py"]


def test_a_file_without_text_is_never_a_candidate(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a.md": "basket\n", "basket.py": "", "basket/b.py": "\n\n"}))
    assert find(engine, "basket in basket.py", 100) == ["a.md"]
