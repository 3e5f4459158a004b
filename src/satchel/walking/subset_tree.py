"""Which files are those of a caller who names some files and folders, and not a whole root?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.settings import WalkOptions
from satchel.types import Skipped, Walk
from satchel.walking.paths import check_relative
from satchel.walking.tree_changes import TreeChanges
from satchel.walking.work_tree import WORK_TREE, WorkTree

if TYPE_CHECKING:
    from satchel.storage.records import HistoryCommit
    from satchel.walking import watermark


class SubsetTree:
    """Some files and folders of a work tree. Ignore rules and filters apply to them as in any walk."""

    ref = WORK_TREE
    content_id = ""

    def __init__(self, base: Path, options: WalkOptions) -> None:
        self.base = base
        self._work_tree = WorkTree(base, options)
        self._files: set[str] = set()
        self._folder_prefixes: list[str] = []

    def add_file(self, path: str) -> None:
        """Add one file."""
        self._files.add(check_relative(path))

    def add_folder(self, path: str, *, recursive: bool = True) -> None:
        """Add the files of a folder, with or without its subfolders."""
        prefix = f"{path}/" if path else ""
        if recursive:
            self._folder_prefixes.append(prefix)
            return
        for entry in self._work_tree.entries().files:
            if entry.path.startswith(prefix) and "/" not in entry.path[len(prefix) :]:
                self._files.add(entry.path)

    def entries(self) -> Walk:
        walk = self._work_tree.entries()
        skipped = [item for item in walk.skipped if self._contains(item.path)]
        return Walk([item for item in walk.files if self._contains(item.path)], skipped, walk.notes)

    def entries_at(self, paths: Sequence[str]) -> Walk:
        return self._work_tree.entries_at([path for path in paths if self._contains(path)])

    def read(self, path: str) -> bytes:
        return self._work_tree.read(path)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        return self._work_tree.read_many(paths)

    def changes_since(self, file: Path, key: str, only: Sequence[str] | None = None) -> TreeChanges | None:
        return None  # the set of files may have changed although no file did

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        """Save nothing: the set of files may change although no file does."""

    def take_watermark(self, walk: Walk | None = None) -> watermark.Watermark:
        return self._work_tree.take_watermark(walk)

    def head(self) -> str:
        return ""  # a subset has no history of its own

    def history(self, head: str) -> list[HistoryCommit]:
        return []

    def _contains(self, path: str) -> bool:
        return path in self._files or any(path.startswith(prefix) for prefix in self._folder_prefixes)
