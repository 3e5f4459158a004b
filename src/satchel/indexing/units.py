"""The pieces that are scored: neither so small that a stray word decides nor so long that words drown.

What is cited are chunks; a unit is whole small neighbours together, or a window of a long chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

from satchel.types import Chunk

_LEAST_CHARS = 300  # a smaller unit takes in its neighbour
_MOST_CHARS = 1_600  # a longer chunk is scored window by window


def unit_lines(chunks: Sequence[Chunk], lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last line of each unit of a file, in order; no line is in two."""
    units: list[tuple[int, int]] = []
    first = last = size = 0
    for chunk in chunks:
        length = len(chunk.text)
        if first and (size >= _LEAST_CHARS or size + length > _MOST_CHARS):
            units.append((first, last))
            first = size = 0
        if length > _MOST_CHARS:
            units.extend(_windows(chunk, lines))
            continue
        first = first or chunk.start_line
        last = chunk.end_line
        size += length
    if first:
        units.append((first, last))
    return units


def _windows(chunk: Chunk, lines: Sequence[str]) -> list[tuple[int, int]]:
    windows = []
    first, size = chunk.start_line, 0
    for number in range(chunk.start_line, chunk.end_line + 1):
        length = len(lines[number - 1])
        if number > first and size + length > _MOST_CHARS:
            windows.append((first, number - 1))
            first, size = number, 0
        size += length
    windows.append((first, chunk.end_line))
    return windows
