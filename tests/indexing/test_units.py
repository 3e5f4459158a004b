"""Units: small neighbours together, long chunks in windows, every line of a chunk in exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.indexing.term_collector import unit_lines
from satchel.types import Chunk, ChunkKind

LEAST, MOST = 300, 1_600


def file_of(*chunks: Sequence[int], blank: int = 1) -> tuple[list[Chunk], list[str]]:
    """Chunks given as the lengths of their lines, with some blank lines after each; and the file's lines."""
    found: list[Chunk] = []
    lines: list[str] = []
    for lengths in chunks:
        own = ["x" * (length - 1) + "\n" for length in lengths]
        found.append(Chunk(ChunkKind.MODULE, (), len(lines) + 1, len(lines) + len(own), "".join(own)))
        lines += [*own, *["\n"] * blank]
    return found, lines


files = st.builds(
    lambda chunks, blank: file_of(*chunks, blank=blank),
    st.lists(
        st.lists(st.integers(1, 120), min_size=1, max_size=40)
        | st.lists(st.integers(1, 2_000), min_size=1, max_size=4),
        max_size=12,
    ),
    st.integers(0, 2),
)


def numbers(spans: Sequence[tuple[int, int]]) -> list[int]:
    return [number for first, last in spans for number in range(first, last + 1)]


@given(files)
def test_every_line_of_a_chunk_is_in_one_unit_and_no_line_is_in_two(
    file: tuple[list[Chunk], list[str]],
) -> None:
    units = numbers(unit_lines(*file))
    assert units == sorted(set(units))
    assert set(numbers([(chunk.start_line, chunk.end_line) for chunk in file[0]])) <= set(units)


@given(files)
def test_no_unit_is_too_long_unless_it_is_one_line(file: tuple[list[Chunk], list[str]]) -> None:
    chunks, lines = file
    inside = set(numbers([(chunk.start_line, chunk.end_line) for chunk in chunks]))
    for first, last in unit_lines(chunks, lines):
        size = sum(len(lines[number - 1]) for number in range(first, last + 1) if number in inside)
        assert size <= MOST or first == last


@given(files)
def test_a_small_unit_has_no_neighbour_that_it_could_take_in(file: tuple[list[Chunk], list[str]]) -> None:
    chunks, lines = file
    units = unit_lines(chunks, lines)
    size_at = {chunk.start_line: len(chunk.text) for chunk in chunks}
    for (first, last), (following, _) in pairwise(units):
        size = sum(size for line, size in size_at.items() if first <= line <= last)
        if 0 < size < LEAST and following in size_at:
            assert size + size_at[following] > MOST


@pytest.mark.parametrize(
    ("chunks", "units"),
    [
        ([], []),
        ([[5]], [(1, 1)]),
        ([[100], [100], [100], [100]], [(1, 5), (7, 7)]),
        ([[300], [5]], [(1, 1), (3, 3)]),
        ([[299], [5]], [(1, 3)]),
        ([[200], [1_401]], [(1, 1), (3, 3)]),
        ([[200], [1_400]], [(1, 3)]),
        ([[800, 800, 800]], [(1, 2), (3, 3)]),
        ([[5], [800, 801], [5]], [(1, 1), (3, 3), (4, 4), (6, 6)]),
        ([[5_000, 5]], [(1, 1), (2, 2)]),
    ],
)
def test_units_of_some_files(chunks: list[list[int]], units: list[tuple[int, int]]) -> None:
    assert unit_lines(*file_of(*chunks)) == units
