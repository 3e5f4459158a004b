"""What did a change take out? The lines as the old commit has them, and the names that are gone with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from satchel.lines import split_lines
from satchel.types import Chunk, Parsed, Source
from satchel.walking.changes import ChangedFile, Status
from satchel.walking.git_diff import Hunk

_TOGETHER = 3  # kept lines between two removed ones that are shown with them: a citation takes as much
_MOST_LINES = 40  # of lines that are gone, in one piece


class Removed(NamedTuple):
    """Lines of the old file that are gone; `at` is the line of the new file where they would stand."""

    first: int
    last: int
    at: int
    chunk: Chunk | None


class OldFile:
    """A file as it was."""

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.lines = split_lines(source.text)

    def chunk_at(self, line: int) -> Chunk | None:
        """The chunk that holds a line."""
        return next((one for one in self.parsed.chunks if one.start_line <= line <= one.end_line), None)

    def took_from(self, hunk: Hunk, title_path: tuple[str, ...]) -> bool:
        """Whether removed lines stood in what had that title."""
        last = hunk.old_line + hunk.old_count - 1
        return any(
            chunk.title_path == title_path and chunk.start_line <= last and hunk.old_line <= chunk.end_line
            for chunk in self.parsed.chunks
        )

    def removed(self, file: ChangedFile, new_lines: Sequence[str]) -> Iterator[Removed]:
        """The removed lines, those that stand close together in one piece. Where the changed lines cannot be
        told apart, nothing is known to be removed."""
        if not file.exact and file.status is not Status.DELETED:
            return
        pending: Removed | None = None
        for hunk in file.hunks:
            if not self._is_gone(hunk, new_lines):
                continue
            one = self._span(hunk)
            if pending is not None and one.first - pending.last - 1 <= _TOGETHER:
                pending = pending._replace(last=one.last)
            else:
                if pending is not None:
                    yield _cut(pending)
                pending = one
        if pending is not None:
            yield _cut(pending)

    def gone_names(self, file: ChangedFile) -> list[str]:
        """The names whose definitions were on removed lines."""
        spans = [(hunk.old_line, hunk.old_line + hunk.old_count - 1) for hunk in file.hunks if hunk.old_count]
        names = [
            symbol.name
            for symbol in self.parsed.symbols
            if any(first <= symbol.start_line <= last for first, last in spans)
        ]
        return list(dict.fromkeys(names))

    def _is_gone(self, hunk: Hunk, new_lines: Sequence[str]) -> bool:
        """Whether a line is really gone: one that was only moved to the side stands in the new lines."""
        old = self.lines[hunk.old_line - 1 : hunk.old_line - 1 + hunk.old_count] if hunk.old_count else []
        new = new_lines[hunk.new_line - 1 : hunk.new_line - 1 + hunk.new_count] if hunk.new_count else []
        kept = {" ".join(line.split()) for line in new}
        return any(line.strip() and " ".join(line.split()) not in kept for line in old)

    def _span(self, hunk: Hunk) -> Removed:
        first, last = hunk.old_line, min(hunk.old_line + hunk.old_count - 1, len(self.lines))
        while first < last and not self.lines[first - 1].strip():
            first += 1
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        return Removed(first, last, hunk.new_line, self.chunk_at(first))


def _cut(one: Removed) -> Removed:
    return one._replace(last=min(one.last, one.first + _MOST_LINES - 1))
