"""Which files does a segment have, and what are their bytes? What a tree is, and the one on disk.

`blob_trees` has the others: a commit, and what is staged for the next one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from satchel.errors import ProjectNotFound, SatchelError
from satchel.plugins import late
from satchel.settings import INDEX_FOLDER, WalkOptions
from satchel.types import Skipped, SkipReason, Walk
from satchel.walking import stat_cache
from satchel.walking.paths import check_relative, open_inside, os_path

if TYPE_CHECKING:
    from satchel.storage.records import HistoryCommit
    from satchel.walking import file_filter, git, git_command, history, ignore_rules, listing
    from satchel.walking.file_filter import FileFilter
    from satchel.walking.ignore_rules import IgnoreRules, Load
    from satchel.walking.listing import IsIgnored
else:  # a folder without git never needs the first three, one that has not changed none of them
    file_filter, git, git_command, history, ignore_rules, listing = (
        late(f"satchel.walking.{name}")
        for name in ("file_filter", "git", "git_command", "history", "ignore_rules", "listing")
    )


WORK_TREE = "worktree"  # the ref of what is read from disk
_MOST_NAMED = 3  # files in a note


class SourceTree(Protocol):
    """The files of one segment."""

    @property
    def ref(self) -> str:
        """Where citations say that the files are: a commit, or a word for what is none."""

    @property
    def content_id(self) -> str:
        """A name that no other content has, for a tree that never changes; empty for one that may."""

    def entries(self) -> Walk:
        """Every file that belongs, and every one left out."""

    def entries_at(self, paths: Sequence[str]) -> Walk:
        """These paths alone: those that belong, and those left out. A path that is gone is in neither."""

    def read(self, path: str) -> bytes:
        """One file; a typed error if it is gone, is no regular file or is outside the root."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        """Many files in the order asked for; one that cannot be read is answered with the reason."""

    def is_unchanged(self, file: Path, key: str) -> bool:
        """Whether the tree is known to be as the walk found it that was remembered under this key."""

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        """Keep what the last walk rested on, so that `stands` can tell."""

    def head(self) -> str:
        """The commit that the files come from, as the last walk found it; empty where there is none."""

    def history(self, head: str) -> list[HistoryCommit]:
        """The last commits up to that one, newest first."""


class WorkTree:
    """The files on disk. In a git work tree git answers for `.gitignore`; else the files are read here."""

    ref = WORK_TREE
    content_id = ""

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()
        self._walked_ns = 0
        self._places: list[str] | None = None  # what the last walk listed and read; None if git did
        self._head: str | None = None  # as the last walk found it; None before the first one
        self._unread: set[str] = set()  # rules that the last walk could not read

    def entries(self) -> Walk:
        return self._walk(ignore_rules.IgnoreRules)

    def ignored(self) -> list[Skipped]:
        """What ignore files leave out, folders as one: a walk passes these by without a word."""
        noted: set[str] = set()
        self._walk(ignore_rules.RecordingIgnoreRules.noting(noted))
        if in_repository(self.root):
            with suppress(git_command.GitUnusable):
                noted.update(git.list_ignored(self.root))
        paths = (path.rstrip("/") for path in noted if path.partition("/")[0] != INDEX_FOLDER)
        return [Skipped(file_filter.printable(path), SkipReason.IGNORED) for path in sorted(paths)]

    def _walk(self, make_rules: ignore_rules.MakeRules) -> Walk:
        self._walked_ns = time.time_ns()
        self._unread.clear()
        chosen = file_filter.FileFilter(self.options)
        names: dict[str, set[str]] = {}

        def load(folder: str, name: str) -> bytes | None:
            return self._load(folder, name) if name in names.get(folder, (name,)) else None

        own = own_rules(load, self.options, make_rules)
        notes: tuple[str, ...] = ()
        paths: list[str] | None = None
        repository = in_repository(self.root)
        self._head = ""
        if repository:
            try:
                place = git.locate_in_repository(self.root)
                paths = git.list_work_tree(self.root, place=place)
                self._head = place.head
            except git_command.GitUnusable as problem:
                notes = (f"{problem.message}; the folder was walked without git",)
        if paths is None:
            own = [make_rules(ignore_rules.GIT_NAMES, load, self._excluded()), *own]
            listing.filter_folder_tree(self.root, own, chosen, names)
        else:
            listing.filter_git_paths(self.root, paths, any_of(own), chosen)
        self._places = None if repository else _places(names)
        return sorted_walk(chosen, (*notes, *notes_of(own), *_of_unread(self._unread)))

    def is_unchanged(self, file: Path, key: str) -> bool:
        if in_repository(self.root):  # git knows of more than files: its index, its configuration
            return False
        known = stat_cache.load(file, self._whole(key))
        return known is not None and stat_cache.is_unchanged(self.root, known)

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        if self._places is None or walk.notes:  # of a walk that stands nothing is said
            return
        taken = stat_cache.capture(self.root, self._whole(key), walk, self._places, self._walked_ns)
        if taken is not None:
            stat_cache.save(file, taken, self.root)

    def head(self) -> str:
        if self._head is None:
            self.entries()
        return self._head or ""

    def history(self, head: str) -> list[HistoryCommit]:
        return history.read_history(self.root, head) if head else []

    def _whole(self, key: str) -> bytes:
        """The key with what else a walk depends on: the folder, and what its user may list."""
        user = os.geteuid() if hasattr(os, "geteuid") else ""
        return f"{key}\n{user}\n{self.root}".encode("utf-8", "surrogatepass")

    def entries_at(self, paths: Sequence[str]) -> Walk:
        wanted = sorted({check_relative(path) for path in paths} - {""})
        chosen = file_filter.FileFilter(self.options)
        rules = own_rules(self._load, self.options)
        self._unread.clear()
        notes: tuple[str, ...] = ()
        found = wanted
        try:
            if in_repository(self.root):
                found = git.list_work_tree(self.root, wanted)
        except git_command.GitUnusable as problem:
            notes = (f"{problem.message}; the files were looked at without git",)
        if found is wanted:
            rules = [ignore_rules.IgnoreRules(ignore_rules.GIT_NAMES, self._load, self._excluded()), *rules]
        listing.filter_git_paths(self.root, found, any_of(rules), chosen)
        return sorted_walk(chosen, (*notes, *notes_of(rules), *_of_unread(self._unread)))

    def _excluded(self) -> list[str]:
        return ignore_rules.ignore_lines(self._load(".git/info", "exclude"))

    def read(self, path: str) -> bytes:
        return open_inside(self.root, path, self.options.max_file_bytes + 1)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        for path in paths:
            try:
                yield path, self.read(path)
            except SatchelError as error:
                yield path, Skipped(path, SkipReason.UNREADABLE, error.message)

    def _load(self, folder: str, name: str) -> bytes | None:
        path = f"{folder}/{name}" if folder else name
        if not os.path.lexists(os_path(self.root, path)):
            return None
        try:
            return open_inside(self.root, path, ignore_rules.MAX_IGNORE_BYTES + 1)
        except SatchelError:  # a symlink or a folder of that name is no ignore file, to git neither
            if not os.path.isdir(os_path(self.root, path)):
                self._unread.add(path)
            return None


class SubsetTree:
    """Only what was picked belongs; the usual rules still say what is left out of that."""

    ref = WORK_TREE
    content_id = ""

    def __init__(self, base: Path, options: WalkOptions) -> None:
        self.base = base
        self._work_tree = WorkTree(base, options)
        self._picked: set[str] = set()
        self._everything_below: list[str] = []

    def add_file(self, path: str) -> None:
        """Take one file in."""
        self._picked.add(check_relative(path))

    def add_folder(self, path: str, *, recursive: bool = True) -> None:
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

    def entries_at(self, paths: Sequence[str]) -> Walk:
        return self._work_tree.entries_at([path for path in paths if self._wanted(path)])

    def read(self, path: str) -> bytes:
        return self._work_tree.read(path)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        return self._work_tree.read_many(paths)

    def is_unchanged(self, file: Path, key: str) -> bool:
        return False  # what was picked may have changed, whatever the files did

    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None:
        """Nothing is kept."""

    def head(self) -> str:
        return ""  # what was picked is no repository, even where it lies in one

    def history(self, head: str) -> list[HistoryCommit]:
        return []

    def _wanted(self, path: str) -> bool:
        return path in self._picked or any(path.startswith(prefix) for prefix in self._everything_below)


def own_rules(
    load: Load, options: WalkOptions, make_rules: ignore_rules.MakeRules | None = None
) -> list[IgnoreRules]:
    """`.ignore` and `.satchelignore`; what the caller adds cannot be taken in again by a file."""
    make_rules = make_rules or ignore_rules.IgnoreRules
    rules = [make_rules(ignore_rules.OWN_NAMES, load)]
    if options.extra_ignores:
        rules.append(make_rules((), load, options.extra_ignores))
    return rules


def notes_of(rules: Sequence[IgnoreRules]) -> list[str]:
    """What was left out of the ignore files that were asked so far."""
    return [note for rule in rules for note in rule.notes]


def any_of(rules: Sequence[IgnoreRules]) -> IsIgnored:
    """What any of the rules leaves out; asked of every file, so that one family of rules is asked itself."""
    if len(rules) == 1:
        return rules[0].ignores
    return lambda folder, entry: any(rule.ignores(folder, entry) for rule in rules)


def in_repository(root: Path) -> bool:
    """Asked first, because starting git takes longer than walking a small folder."""
    return any(os.path.lexists(folder / ".git") for folder in (root.absolute(), *root.absolute().parents))


def _places(names: dict[str, set[str]]) -> list[str]:
    """The folders that a walk listed, and the ignore files that were in them."""
    rule_names = {*ignore_rules.GIT_NAMES, *ignore_rules.OWN_NAMES}
    rules = [
        f"{folder}/{name}" if folder else name
        for folder, found in names.items()
        for name in sorted(rule_names & found)
    ]
    return [*names, *rules]


def _of_unread(paths: set[str]) -> Iterator[str]:
    if paths:
        named = ", ".join(map(repr, sorted(paths)[:_MOST_NAMED])) + (" …" if len(paths) > _MOST_NAMED else "")
        yield f"rules were not read, because a link or no regular file holds them: {named}"


def sorted_walk(chosen: FileFilter, notes: tuple[str, ...]) -> Walk:
    """What was chosen, as a walk gives it."""
    chosen.files.sort(key=attrgetter("path"))
    return Walk(chosen.files, chosen.sorted_skips(), notes)
