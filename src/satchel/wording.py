"""How is a number of things written for people and agents? As `1 file` and `2,302 files`."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return a number and its noun: `one` after 1, otherwise `several`, which is `one` with an s unless it
    is given."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
