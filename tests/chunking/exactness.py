"""The two promises of every chunker, as one assertion."""

from __future__ import annotations

from collections.abc import Sequence

from satchel.lines import split_lines
from satchel.types import Chunk


def assert_exact(text: str, chunks: Sequence[Chunk]) -> None:
    """Every chunk is its lines, and every line that is not blank stands in exactly one chunk."""
    lines = split_lines(text)
    covered = [0] * len(lines)
    for chunk in chunks:
        assert chunk.text == "".join(lines[chunk.start_line - 1 : chunk.end_line])
        for index in range(chunk.start_line - 1, chunk.end_line):
            covered[index] += 1
    assert all(count == 1 for count, line in zip(covered, lines, strict=True) if line.strip())
    assert max(covered, default=0) <= 1
