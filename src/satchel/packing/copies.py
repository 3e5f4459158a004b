"""Which passages say what a better one says already?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil

from satchel.packing.items import Reading
from satchel.types import Passage

_COPY_CHARS = 200  # shorter texts may be alike by chance
_ALIKE = 0.9  # the share of lines that near-copies have in common


def without_copies(passages: Sequence[Passage], reading: Reading) -> tuple[list[Passage], int]:
    """The passages without near-copies of more promising ones, in their order, and how many were copies."""
    order = sorted(range(len(passages)), key=lambda number: (-passages[number].promise, number))
    kept: list[int] = []
    holders: dict[str, list[set[str]]] = defaultdict(list)  # texts by each of their first lines
    for number in order:
        passage = passages[number]
        if passage.size >= _COPY_CHARS:
            lines = _telling(reading.lines(passage.path)[passage.start_line - 1 : passage.end_line])
            # texts that share so many lines share one of the first, in whatever order: long ones are rarest
            ordered = sorted(sorted(lines), key=len, reverse=True)
            first = ordered[: len(lines) - ceil(_ALIKE * len(lines)) + 1]
            if any(_are_alike(lines, other) for line in first for other in holders.get(line, ())):
                continue
            for line in first:
                holders[line].append(lines)
        kept.append(number)
    return [passages[number] for number in sorted(kept)], len(passages) - len(kept)


def _telling(lines: Iterable[str]) -> set[str]:
    return {" ".join(line.split()) for line in lines} - {""}


def _are_alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(len(one), len(other))
