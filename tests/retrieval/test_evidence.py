"""Sums and choices over flat arrays: quicker ways that must give what the plain ones give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from builders import closely, make_tree, memory_engine
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval.evidence import first_largest, runs

FEW_VALUES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5000001, 2.0]), max_size=40)


@given(values=FEW_VALUES, count=st.integers(1, 50))
def test_the_largest_come_as_from_a_stable_sort(values: list[float], count: int) -> None:
    array = np.array(values)
    assert first_largest(array, count).tolist() == np.argsort(-array, kind="stable")[:count].tolist()


def test_a_run_starts_where_another_owner_does() -> None:
    assert runs(np.array([7, 7, 2, 9, 9, 9])).tolist() == [0, 2, 3]
    assert runs(np.array([], np.int64)).tolist() == []


def test_the_best_four_of_each_file_are_summed_largest_first(tmp_path: Path) -> None:
    part = "def till():\n" + "    till = 1\n" * 30 + "\n\n"
    engine = memory_engine(make_tree(tmp_path, {"a.py": part * 9, "b.py": part, "c.py": "till = 1\n"}))
    evidence = closely(engine, "till").evidence
    scores = np.round(
        np.random.default_rng(5).random(len(evidence.unit_positions)), 1
    )  # with ties, and noughts
    sorted_scores = [sorted(scores[evidence.unit_file == at], reverse=True)[:4] for at in range(3)]
    assert evidence.best_four_of_file(scores).tolist() == [sum(some) for some in sorted_scores]
    assert evidence.best_four_of_file(np.zeros(len(scores))).tolist() == [0.0, 0.0, 0.0]


def test_an_entry_lies_in_the_unit_that_it_was_found_in(tmp_path: Path) -> None:
    tree = {f"f{number}.md": "basket\n" * (number % 3) + "till\n" for number in range(12)}
    evidence = closely(memory_engine(make_tree(tmp_path, tree)), "till basket", 5).evidence
    places = set(zip(evidence.term.tolist(), evidence.unit_positions[evidence.unit].tolist(), strict=True))
    assert places == {
        (number, place)
        for number, (found, _) in enumerate(evidence.postings.found)
        for place in found.tolist()
        if place in evidence.unit_positions
    }
    assert (
        evidence.files[evidence.file] == evidence.corpus.file_of[evidence.unit_positions[evidence.unit]]
    ).all()
