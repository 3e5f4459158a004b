"""Which lines of a file are an old text of it today? The rows that both have once show the way."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_TELLING = re.compile(r"(?:\W*\w){3}")  # a row of less, such as `}` or `--`, is anywhere by chance
_CLOSERS = ("}", ")", "]", "end")  # rows at the edge that end what stands above them


class Alignment(NamedTuple):
    """The lines of now, first and last; where an outer row was changed, as many rows as there were. `met` are
    the lines of now that the old text has too, wherever they stand."""

    first: int
    last: int
    first_met: int
    last_met: int
    starts_alike: bool
    rest: tuple[str, ...]  # the old rows below the last that is still there
    met: tuple[int, ...]


def align(old: Sequence[str], new: Sequence[str]) -> Alignment | None:
    """Where the old rows are among the new ones; None if they share no telling row."""
    places = _once(new)
    pairs = [(place, places[row]) for row, place in _once(old).items() if row in places]
    way = _longest_ascending(sorted(pairs))
    if not way:
        return None
    (top_old, top_new), (end_old, end_new) = way[0], way[-1]
    while top_old and top_new and old[top_old - 1] == new[top_new - 1]:
        top_old, top_new = top_old - 1, top_new - 1
    while end_old + 1 < len(old) and end_new + 1 < len(new) and old[end_old + 1] == new[end_new + 1]:
        end_old, end_new = end_old + 1, end_new + 1
    rest = tuple(old[end_old + 1 :])
    return Alignment(
        first=max(0, top_new - top_old) + 1,
        last=min(len(new) - 1, end_new + len(rest)) + 1,
        first_met=top_new + 1,
        last_met=end_new + 1,
        starts_alike=top_old == 0,
        rest=rest,
        met=tuple(sorted(place + 1 for _, place in pairs)),
    )


def starts_anew(rows: Sequence[str], edge: str) -> bool:
    """Whether something of its own begins in these rows: one as far left as the edge that ends nothing."""
    limit = _indentation(edge)
    return any(
        row.strip() and _indentation(row) <= limit and not row.lstrip().startswith(_CLOSERS) for row in rows
    )


def _once(rows: Sequence[str]) -> dict[str, int]:
    """The telling rows that stand once, each with its place."""
    counts = Counter(rows)
    return {row: place for place, row in enumerate(rows) if counts[row] == 1 and _TELLING.match(row)}


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers ascend as the first do: what moved is not in it."""
    ends: list[int] = []  # the smallest second number that a run of each length ends with
    last: list[int] = []  # the pair that it belongs to
    before: list[int] = []  # of each pair, the one that comes before it in its run
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    way: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        way.append(pairs[number])
        number = before[number]
    return way[::-1]


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip())
