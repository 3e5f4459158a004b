"""Which lines of a file were once an old text? The old rows are aligned with the new ones by the rows that
occur exactly once in both, as patience diff does."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_TELLING = re.compile(r"(?:\W*\w){3}")  # a shorter row, such as `}` or `--`, occurs anywhere by chance
_CLOSERS = ("}", ")", "]", "end")  # rows that start so end the definition above them


class Alignment(NamedTuple):
    """The lines that an old text has become, as line numbers of the new text.

    `first` and `last` are the outer lines; where the outermost old rows were changed, as many lines are
    counted there as there were rows.
    """

    first: int
    last: int
    first_shared: int  # the outer lines whose rows are in both texts
    last_shared: int
    same_start: bool  # whether the first old row is one of the shared ones
    rest: tuple[str, ...]  # the old rows below the last shared one
    shared: tuple[int, ...]  # all lines whose rows are in both texts, in whatever order


def align(old: Sequence[str], new: Sequence[str]) -> Alignment | None:
    """Align the old rows with the new ones; return None if they share no telling row."""
    places = _unique_rows(new)
    pairs = [(place, places[row]) for row, place in _unique_rows(old).items() if row in places]
    path = _longest_ascending(sorted(pairs))
    if not path:
        return None
    (top_old, top_new), (end_old, end_new) = path[0], path[-1]
    while top_old and top_new and old[top_old - 1] == new[top_new - 1]:
        top_old, top_new = top_old - 1, top_new - 1
    while end_old + 1 < len(old) and end_new + 1 < len(new) and old[end_old + 1] == new[end_new + 1]:
        end_old, end_new = end_old + 1, end_new + 1
    rest = tuple(old[end_old + 1 :])
    return Alignment(
        first=max(0, top_new - top_old) + 1,
        last=min(len(new) - 1, end_new + len(rest)) + 1,
        first_shared=top_new + 1,
        last_shared=end_new + 1,
        same_start=top_old == 0,
        rest=rest,
        shared=tuple(sorted(place + 1 for _, place in pairs)),
    )


def starts_definition(rows: Sequence[str], edge: str) -> bool:
    """Whether another definition begins in these rows: a row that is indented no more than `edge` and does
    not close a bracket or block."""
    limit = _indentation(edge)
    return any(
        row.strip() and _indentation(row) <= limit and not row.lstrip().startswith(_CLOSERS) for row in rows
    )


def _unique_rows(rows: Sequence[str]) -> dict[str, int]:
    """Return the telling rows that occur once, each with its position."""
    counts = Counter(rows)
    return {row: place for place, row in enumerate(rows) if counts[row] == 1 and _TELLING.match(row)}


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers ascend as the first do; rows that were
    moved past others are not in it."""
    # Patience sorting: of each length of subsequence, the smallest second number that ends it and the pair
    # that this number is of; and of each pair, the pair before it in its subsequence.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    path: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        path.append(pairs[number])
        number = before[number]
    return path[::-1]


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip())
