"""Pooling gives the same bits however the work is cut, ordered or threaded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from satchel.embedding import pooling
from satchel.embedding.pooling import LENGTH, pool, query_vector, similarities, weight_of
from satchel.embedding.word_vectors import WordVectors

TERMS = [f"t{number:02}" for number in range(40)]
TABLE = np.random.default_rng(3).integers(-127, 128, (len(TERMS), 16)).astype(np.int8)
WORDS = WordVectors("tiny-1", TABLE, "\n".join(TERMS).encode())

Unit = list[tuple[int, int]]  # row and weight of each entry
entries = st.tuples(st.integers(-1, len(TERMS) - 1), st.integers(0, 600))
units = st.lists(st.lists(entries, max_size=12), min_size=1, max_size=12)


def pooled(given_units: list[Unit]) -> NDArray[np.int8]:
    flat = np.array([entry for unit in given_units for entry in unit], np.int32).reshape(-1, 2)
    sizes = np.array([len(unit) for unit in given_units], np.int32)
    return pool(WORDS, flat[:, 0], flat[:, 1], sizes)


def by_definition(unit: Unit) -> list[int]:
    known = [(row, weight) for row, weight in unit if row >= 0]
    sums = [sum(int(TABLE[row, d]) * weight for row, weight in known) for d in range(TABLE.shape[1])]
    length = math.sqrt(max(1, sum(value * value for value in sums)))
    return [round(value * LENGTH / length) for value in sums]


@given(units)
def test_a_vector_is_the_weighted_sum_at_full_length(given_units: list[Unit]) -> None:
    assert pooled(given_units).tolist() == [by_definition(unit) for unit in given_units]


@given(units, st.randoms())
def test_the_order_of_entries_changes_no_bit(given_units: list[Unit], random) -> None:  # type: ignore[no-untyped-def]
    mixed = [random.sample(unit, len(unit)) for unit in given_units]
    assert np.array_equal(pooled(given_units), pooled(mixed))


@given(units)
def test_units_do_not_depend_on_their_neighbours(given_units: list[Unit]) -> None:
    together = pooled(given_units)
    assert np.array_equal(together[::-1], pooled(given_units[::-1]))
    assert np.array_equal(together, np.concatenate([pooled([unit]) for unit in given_units]))


@given(units, st.integers(1, 5))
def test_the_size_of_a_batch_changes_no_bit(given_units: list[Unit], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "_UNITS_AT_ONCE", at_once)
        cut = pooled(given_units)
    assert np.array_equal(cut, pooled(given_units))


def test_a_huge_unit_is_as_exact_as_a_small_one() -> None:
    unit = [(1, 512), (2, 512), (7, 8)]
    huge, small = pooled([unit * 4000, unit]).astype(int)
    assert np.abs(huge - small).max() <= 1  # halving the wide sums may move a number over .5
    assert np.array_equal(pooled([unit * 4000])[0], pooled([unit[::-1] * 4000])[0])


def test_a_unit_without_known_words_has_the_zero_vector() -> None:
    assert not pooled([[], [(-1, 8)], [(3, 0)]]).any()


def test_weights_are_eighths_of_the_square_root() -> None:
    assert weight_of(np.array([0, 1, 2, 4, 100])).tolist() == [0, 8, 11, 16, 80]
    assert weight_of(np.array([10**9])).tolist() == [512]


def test_a_question_of_one_word_is_its_row() -> None:
    vector = query_vector(WORDS, {"t05": 0.3, "unknown": 2.0, "t06": 0.0})
    assert vector is not None
    assert vector.tolist() == by_definition([(5, 1)])


def test_only_the_proportions_of_a_question_count() -> None:
    question = {"t01": 0.5, "t09": 1.0, "t30": 0.25}
    scaled = {term: weight * 6 for term, weight in reversed(question.items())}
    assert np.array_equal(query_vector(WORDS, question), query_vector(WORDS, scaled))  # type: ignore[arg-type]


@pytest.mark.parametrize("question", [{}, {"unknown": 1.0}, {"t01": 0.0}])
def test_a_question_without_known_words_has_no_vector(question: dict[str, float]) -> None:
    assert query_vector(WORDS, question) is None


def test_a_vector_is_like_itself_and_unlike_its_opposite() -> None:
    vector = pooled([[(4, 8), (9, 16)]])
    alike, opposite = similarities(np.concatenate([vector, -vector]), vector[0])
    assert alike == pytest.approx(1, abs=0.02) and opposite == -alike


@given(st.integers(1, 9))
def test_similarities_are_exact_whatever_is_done_at_once(at_once: int) -> None:
    vectors = pooled([[(row, 8)] for row in range(len(TERMS))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "_VECTORS_AT_ONCE", at_once)
        cut = similarities(vectors, vectors[0])
    assert np.array_equal(cut, vectors.astype(int) @ vectors[0].astype(int) / LENGTH**2)
