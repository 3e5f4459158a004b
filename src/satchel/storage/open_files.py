"""The files that one request looks at. Each part of a file is read once, and only when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.types import Symbol


class OpenFile:
    """A file of a snapshot, with its lines, chunks and symbols read on demand."""

    def __init__(self, snapshot: Snapshot, record: FileRecord) -> None:
        self.record = record
        self._snapshot = snapshot

    @property
    def path(self) -> str:
        return self.record.path

    @cached_property
    def lines(self) -> Sequence[str]:
        return split_lines(self._snapshot.text(self.path))

    @cached_property
    def chunks(self) -> list[ChunkRecord]:
        """Return the chunks by line; no two share a line."""
        return self._snapshot.chunks(self.path)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Return the symbols by first line; of two that start together the longer comes first."""
        found = self._snapshot.symbols(self.path)
        return sorted(found, key=lambda symbol: (symbol.start_line, -symbol.end_line))

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        """Return the numbers of the lines that hold nothing but comment."""
        ranges = self._snapshot.parsed(self.path).comments
        return frozenset(number for first, last in ranges for number in range(first, last + 1))

    def text(self, first_line: int, last_line: int) -> str:
        """Return the text of a range of lines, byte for byte."""
        return "".join(self.lines[first_line - 1 : last_line])

    def chunk_at(self, first_line: int, last_line: int) -> ChunkRecord | None:
        """Return the chunk that has exactly these lines, or None."""
        lines = (first_line, last_line)
        return next((item for item in self.chunks if (item.start_line, item.end_line) == lines), None)


class OpenFiles:
    """The files of a snapshot that were opened so far, by path."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._opened: dict[str, OpenFile | None] = {}

    def get(self, path: str) -> OpenFile | None:
        """Return the file of a path, or None if the index does not hold it."""
        if path not in self._opened:
            record = self.snapshot.file(path)
            self._opened[path] = OpenFile(self.snapshot, record) if record is not None else None
        return self._opened[path]
