"""A tree of files whose texts are kept in memory instead of on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from satchel import ids
from satchel.errors import FileNotFound
from satchel.storage.records import HistoryCommit
from satchel.types import FileEntry, Skipped, SkipReason, Walk
from satchel.walking import watermark
from satchel.walking.paths import check_relative
from satchel.walking.tree_changes import TreeChanges
from satchel.walking.work_tree import WORK_TREE


class MemoryFile(msgspec.Struct, frozen=True):
    """A file whose text is known, wherever the file itself is."""

    path: str
    text: str
    mtime_ns: int


class MemoryTree:
    """Files that exist only as texts in memory. They never change."""

    ref = WORK_TREE

    def __init__(self, files: Iterable[MemoryFile]) -> None:
        self._files = {check_relative(file.path): file for file in files}
        texts = "\n".join(f"{path}\n{ids.hash_text(file.text)}" for path, file in sorted(self._files.items()))
        self.content_id = ids.hash_text(texts)

    def entries(self) -> Walk:
        return self.entries_at(list(self._files))

    def entries_at(self, paths: Sequence[str]) -> Walk:
        found = [self._files[path] for path in sorted(paths) if path in self._files]
        return Walk([FileEntry(file.path, len(file.text), file.mtime_ns) for file in found], [], ())

    def read(self, path: str) -> bytes:
        if path not in self._files:
            raise FileNotFound(f"{path!r} is not kept")
        return self._files[path].text.encode("utf-8", "surrogatepass")

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        for path in paths:
            missing = Skipped(path, SkipReason.UNREADABLE, "not kept")
            yield path, self.read(path) if path in self._files else missing

    def changes_since(self, file: Path, key: str, only: Sequence[str] | None = None) -> TreeChanges | None:
        return None  # an index knows by its content id that it is of this tree

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        """Keep nothing: there is nothing that could change."""

    def take_watermark(self, walk: Walk | None = None) -> watermark.Watermark:
        return watermark.from_content("", self.content_id)

    def head(self) -> str:
        return ""

    def history(self, head: str) -> list[HistoryCommit]:
        return []
