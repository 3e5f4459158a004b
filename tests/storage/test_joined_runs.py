"""Posting runs that are laid end to end give the runs that they were made of."""

from __future__ import annotations

import numpy as np

from satchel.storage.joined_runs import JoinedRuns
from satchel.storage.records import PostingRun


def run(number: int, units: list[int], width: int = 4) -> PostingRun:
    """Return a run whose files have so many units."""
    firsts = np.cumsum([10 * number, *units[:-1]])[: len(units)]
    files = np.array([firsts, units], "<u4").T
    count = sum(units)
    lengths = np.arange(2 * count).astype("<u2")
    lines = np.arange(2 * count).astype("<u4") + number
    vectors = np.arange(len(units) * width).astype(np.int8)
    return PostingRun(number, *(part.tobytes() for part in (files, lengths, lines, vectors)))


RUNS = [run(1, [2, 1]), run(4, []), run(5, [3])]


def test_joined_runs_are_the_runs() -> None:
    joined = JoinedRuns.of(RUNS)
    assert list(joined) == RUNS and joined[0:2] == RUNS[:2]
    assert joined.unit_counts == (3, 0, 3) and len(joined.vectors) == 3


def test_parts_lie_in_the_same_arrays() -> None:
    parts = [JoinedRuns.of(RUNS[:2]), JoinedRuns.of([]), JoinedRuns.of(RUNS[2:])]
    joined = JoinedRuns.joined(parts)
    assert list(joined) == RUNS
    again = joined.parted([2, 0, 1])
    assert [list(part) for part in again] == [RUNS[:2], [], RUNS[2:]]
    assert all(np.shares_memory(part.lines, joined.lines) for part in again if len(part.lines))


def test_runs_are_moved() -> None:
    moved = JoinedRuns.of(RUNS).moved(100, 1_000)
    assert moved.numbers == (101, 104, 105)
    assert moved.files.tolist() == [[1010, 2], [1012, 1], [1050, 3]]


def test_vectors_are_of_all_runs_or_of_none() -> None:
    bare = run(7, [2], width=0)
    assert len(JoinedRuns.of([*RUNS, bare]).vectors) == 0
    parts = [JoinedRuns.of(RUNS), JoinedRuns.of([bare])]
    assert len(JoinedRuns.joined(parts).vectors) == 0
    assert [one.vectors for one in JoinedRuns.joined(parts)] == [b""] * 4
    without_files = [JoinedRuns.of(RUNS), JoinedRuns.of([run(8, [])])]
    assert len(JoinedRuns.joined(without_files).vectors) == 3
