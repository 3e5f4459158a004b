"""Look at the few files of a tree that changed since its last walk, in place of walking it again.

As long as no folder, ignore file or setting of git leads to other files, a walk would find everything else as
it was. So only these files are offered to the file filter, and git is asked about them alone: in Django that
takes 10 ms instead of 200, in a plain folder 2 instead of 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.plugins import late
from satchel.types import Walk
from satchel.walking import stat_cache

if TYPE_CHECKING:
    from satchel.walking import file_filter, git, git_command, watermark
    from satchel.walking.work_tree import WorkTree
else:  # an unchanged tree needs none of them
    file_filter, git, git_command, watermark = (
        late(f"satchel.walking.{name}") for name in ("file_filter", "git", "git_command", "watermark")
    )


class TreeChanges:
    """What changed in a work tree since the walk whose stamps were saved."""

    def __init__(
        self, tree: WorkTree, cached: stat_cache.StatCache, changes: stat_cache.Changes, since_ns: int
    ) -> None:
        """Take what was found to have other stamps than those of the cache, from `since_ns` on."""
        self._tree = tree
        self._cached = cached
        self._changes = changes
        self._since_ns = since_ns
        self._git_answers = cached.git_answers
        self._ignored: frozenset[str] = frozenset()  # new paths that git ignores
        self.watermark = cached.watermark  # of the tree, as far as it is known without counting its files
        self.paths: Sequence[str] = sorted(path.decode("utf-8", "surrogateescape") for path in changes.files)
        self.in_git = bool(cached.git_program)

    @property
    def unchanged_watermark(self) -> dict[str, Any] | None:
        """Return the watermark of the tree if it is as the walk found it; None if it may have changed."""
        return None if self._changes.files or self._changes.folders else self._cached.watermark

    def look(self) -> tuple[Walk, watermark.Watermark | None] | None:
        """Return the files at these paths and, in git, the watermark of just before; None if a walk is needed
        to tell what became of the tree."""
        if len(self.paths) >= self._cached.files.count(b"\0") or any(map(_is_shown_otherwise, self.paths)):
            return None
        try:
            mark = self._ask_git() if self.in_git else None
            walk = self._entries()
        except git_command.GitUnusable:
            return None
        changed = set(self.paths)
        folders = [item.path for item in walk.skipped if item.path not in changed]
        if walk.notes or not all(map(self._holds_as_many, folders)):
            return None
        return Walk(walk.files, [item for item in walk.skipped if item.path in changed]), mark

    def _holds_as_many(self, folder: str) -> bool:
        """Return whether a folder that is left out, which is reported with the number of its files, has as
        many as before."""
        inside = {_as_bytes(path) for path in self.paths if path.startswith(f"{folder}/")}
        return bool(inside) and stat_cache.were_there(self._cached, self._changes, inside)

    def _ask_git(self) -> watermark.Watermark:
        known = watermark.decode_answers(self._cached.git_answers)
        folder = self._tree.options.index_folder
        mark, answers = watermark.ask_git_again(self._tree.root, folder, known, self.paths)
        self._git_answers = watermark.encode_answers(answers)
        self.watermark = watermark.as_values(mark)
        return mark

    def _entries(self) -> Walk:
        if not self.in_git:
            return self._tree.entries_without_git(self.paths)
        known = set(self._cached.files.split(b"\0"))
        new = [path for path in self.paths if _as_bytes(path) not in known]
        self._ignored = frozenset(new).difference(self._listed(new))
        return self._tree.entries_listed([path for path in self.paths if path not in self._ignored])

    def _listed(self, paths: Sequence[str]) -> list[str]:
        """Return those of some new paths that git does not ignore."""
        if not paths:
            return []
        answers = watermark.decode_answers(self._cached.git_answers)
        place = git.RepositoryFolder(answers.prefix, answers.head)
        return git.list_work_tree(self._tree.root, paths, place)

    def save(self, file: Path, key: str, mark: dict[str, Any]) -> None:
        """Save the stamps of now for the next look, for an index that has this watermark."""
        known = msgspec.structs.replace(
            self._cached, key=self._tree.cache_key(key), watermark=mark, git_answers=self._git_answers
        )
        ignored = frozenset(map(_as_bytes, self._ignored))
        new = stat_cache.with_changes(known, self._changes, self._since_ns, ignored)
        stat_cache.save(file, new, self._tree.root, again=True)


def _as_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _is_shown_otherwise(path: str) -> bool:
    """Return whether a path that is left out is not reported as it is spelled."""
    return file_filter.printable(path) != path or "\\" in path
