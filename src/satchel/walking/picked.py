"""A tree of files picked one by one, or folder by folder, below one base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from satchel.settings import WalkOptions
from satchel.storage.records import HistoryCommit
from satchel.types import Skipped, Walk
from satchel.walking.paths import check_relative
from satchel.walking.walker import WORK_TREE, WorkTree


class PickedTree:
    """Only what was picked belongs; the usual rules still say what is left out of that."""

    ref = WORK_TREE
    content_id = ""

    def __init__(self, base: Path, options: WalkOptions) -> None:
        self.base = base
        self._work_tree = WorkTree(base, options)
        self._picked: set[str] = set()
        self._everything_below: list[str] = []

    def pick_file(self, path: str) -> None:
        """Take one file in."""
        self._picked.add(check_relative(path))

    def pick_folder(self, path: str, *, recursive: bool = True) -> None:
        """Take in what a folder holds, with or without its sub-folders."""
        prefix = f"{path}/" if path else ""
        if recursive:
            self._everything_below.append(prefix)
            return
        for entry in self._work_tree.entries().files:
            if entry.path.startswith(prefix) and "/" not in entry.path[len(prefix) :]:
                self._picked.add(entry.path)

    def entries(self) -> Walk:
        walk = self._work_tree.entries()
        skipped = [item for item in walk.skipped if self._wanted(item.path)]
        return Walk([item for item in walk.files if self._wanted(item.path)], skipped, walk.notes)

    def look(self, paths: Sequence[str]) -> Walk:
        return self._work_tree.look([path for path in paths if self._wanted(path)])

    def read(self, path: str) -> bytes:
        return self._work_tree.read(path)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        return self._work_tree.read_many(paths)

    def stands(self, file: Path, key: str) -> bool:
        return False  # what was picked may have changed, whatever the files did

    def remember(self, file: Path, key: str, walk: Walk) -> None:
        """Nothing is kept."""

    def head(self) -> str:
        return ""  # what was picked is no repository, even where it lies in one

    def history(self, head: str) -> list[HistoryCommit]:
        return []

    def _wanted(self, path: str) -> bool:
        return path in self._picked or any(path.startswith(prefix) for prefix in self._everything_below)
