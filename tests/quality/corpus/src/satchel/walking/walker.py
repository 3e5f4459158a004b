"""Which files does a segment have, and what are their bytes? From a work tree or from a git ref."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from satchel.errors import FileNotFound, ProjectNotFound, SatchelError
from satchel.plugins import late
from satchel.settings import WalkOptions
from satchel.types import Skipped, SkipReason, Walk
from satchel.walking import footprint
from satchel.walking.paths import check_relative, open_inside, os_path

if TYPE_CHECKING:
    from satchel.walking import git, git_command, ignore, listed, plain, selection
    from satchel.walking.ignore import IgnoreRules, Load
    from satchel.walking.plain import Ignores
    from satchel.walking.selection import Selection
else:  # a folder without git never needs the first two, one that has not changed none of them
    git, git_command, ignore, listed, plain, selection = (
        late(f"satchel.walking.{name}")
        for name in ("git", "git_command", "ignore", "listed", "plain", "selection")
    )


class Tree(Protocol):
    """The files of one segment."""

    def entries(self) -> Walk:
        """Every file that belongs, and every one left out."""

    def look(self, paths: Sequence[str]) -> Walk:
        """These paths alone: those that belong, and those left out. A path that is gone is in neither."""

    def read(self, path: str) -> bytes:
        """One file; a typed error if it is gone, is no regular file or is outside the root."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        """Many files in the order asked for; one that cannot be read is answered with the reason."""

    def stands(self, file: Path, key: str) -> bool:
        """Whether the tree is known to be as the walk found it that was remembered under this key."""

    def remember(self, file: Path, key: str, walk: Walk) -> None:
        """Keep what the last walk rested on, so that `stands` can tell."""


class WorkTree:
    """The files on disk. In a git work tree git answers for `.gitignore`; else the files are read here."""

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()
        self._walked_ns = 0
        self._places: list[str] | None = None  # what the last walk listed and read; None if git did

    def entries(self) -> Walk:
        self._walked_ns = time.time_ns()
        chosen = selection.Selection(self.options)
        names: dict[str, set[str]] = {}

        def load(folder: str, name: str) -> bytes | None:
            return self._load(folder, name) if name in names.get(folder, (name,)) else None

        own = _own_rules(load, self.options)
        notes: tuple[str, ...] = ()
        paths: list[str] | None = None
        repository = in_repository(self.root)
        if repository:
            try:
                paths = git.list_work_tree(self.root)
            except git_command.GitUnusable as problem:
                notes = (f"{problem.message}; the folder was walked without git",)
        if paths is None:
            theirs = ignore.IgnoreRules(ignore.GIT_NAMES, load, self._excluded())
            plain.walk_plain(self.root, [theirs, *own], chosen, names)
        else:
            listed.select_listed(self.root, paths, _any_of(own), chosen)
        self._places = None if repository else _places(names)
        return _walk(chosen, notes)

    def stands(self, file: Path, key: str) -> bool:
        if in_repository(self.root):  # git knows of more than files: its index, its configuration
            return False
        known = footprint.recall(file, self._whole(key))
        return known is not None and footprint.holds(self.root, known)

    def remember(self, file: Path, key: str, walk: Walk) -> None:
        if self._places is None:
            return
        taken = footprint.take(self.root, self._whole(key), walk, self._places, self._walked_ns)
        if taken is not None:
            footprint.keep(file, taken, self.root)

    def _whole(self, key: str) -> bytes:
        """The key with what else a walk depends on: the folder, and what its user may list."""
        user = os.geteuid() if hasattr(os, "geteuid") else ""
        return f"{key}\n{user}\n{self.root}".encode("utf-8", "surrogatepass")

    def look(self, paths: Sequence[str]) -> Walk:
        wanted = sorted({check_relative(path) for path in paths} - {""})
        chosen = selection.Selection(self.options)
        rules = _own_rules(self._load, self.options)
        notes: tuple[str, ...] = ()
        found = wanted
        try:
            if in_repository(self.root):
                found = git.list_work_tree(self.root, wanted)
        except git_command.GitUnusable as problem:
            notes = (f"{problem.message}; the files were looked at without git",)
        if found is wanted:
            rules = [ignore.IgnoreRules(ignore.GIT_NAMES, self._load, self._excluded()), *rules]
        listed.select_listed(self.root, found, _any_of(rules), chosen)
        return _walk(chosen, notes)

    def _excluded(self) -> list[str]:
        return ignore.ignore_lines(self._load(".git/info", "exclude"))

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
            return open_inside(self.root, path, ignore.MAX_IGNORE_BYTES + 1)
        except SatchelError:  # a symlink or a folder of that name is no ignore file, to git neither
            return None


class GitTree:
    """The files of a commit. The ref is resolved once: a branch that moves on does not change the tree."""

    def __init__(self, root: Path, ref: str, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()
        self.commit = git.resolve_ref(root, ref)
        self._listing: git.TreeListing | None = None
        self._shas: dict[str, str] = {}

    def entries(self) -> Walk:
        listing = self._listed()
        chosen = selection.Selection(self.options)
        listed.select_blobs(listing, _any_of(_own_rules(self._loader(), self.options)), chosen)
        return _walk(chosen, ())

    def look(self, paths: Sequence[str]) -> Walk:
        asked = set(paths)
        walk = self.entries()
        skipped = [item for item in walk.skipped if item.path in asked]
        return Walk([item for item in walk.files if item.path in asked], skipped, walk.notes)

    def read(self, path: str) -> bytes:
        ((_, data),) = self.read_many([path])
        if isinstance(data, Skipped):
            raise FileNotFound(f"{path!r}: {data.detail}", details={"path": path, "commit": self.commit})
        return data

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]:
        self._listed()
        asked = [(path, self._shas.get(check_relative(path))) for path in paths]
        blobs = git.read_blobs(self.root, [sha for _, sha in asked if sha])
        for path, sha in asked:
            data = next(blobs)[1] if sha else None
            missing = "the object is not in this clone" if sha else "not in this commit"
            yield path, Skipped(path, SkipReason.UNREADABLE, missing) if data is None else data

    def stands(self, file: Path, key: str) -> bool:
        return False  # listing a commit costs little, and nobody asks twice

    def remember(self, file: Path, key: str, walk: Walk) -> None:
        """Nothing is kept."""

    def _listed(self) -> git.TreeListing:
        if self._listing is None:
            self._listing = git.list_tree(self.root, self.commit)
            self._shas = {blob.path: blob.sha for blob in self._listing.blobs if blob.size >= 0}
        return self._listing

    def _loader(self) -> Load:
        """Ignore files as they were at that commit, read in one go."""
        wanted = [path for path in self._shas if path.rpartition("/")[2] in ignore.OWN_NAMES]
        found = {path: data for path, data in self.read_many(wanted) if isinstance(data, bytes)}
        return lambda folder, name: found.get(f"{folder}/{name}" if folder else name)


def _own_rules(load: Load, options: WalkOptions) -> list[IgnoreRules]:
    """`.ignore` and `.satchelignore`; what the caller adds cannot be taken in again by a file."""
    rules = [ignore.IgnoreRules(ignore.OWN_NAMES, load)]
    if options.extra_ignores:
        rules.append(ignore.IgnoreRules((), load, options.extra_ignores))
    return rules


def _any_of(rules: Sequence[IgnoreRules]) -> Ignores:
    return lambda folder, entry: any(rule.ignores(folder, entry) for rule in rules)


def in_repository(root: Path) -> bool:
    """Asked first, because starting git takes longer than walking a small folder."""
    return any(os.path.lexists(folder / ".git") for folder in (root.absolute(), *root.absolute().parents))


def _places(names: dict[str, set[str]]) -> list[str]:
    """The folders that a walk listed, and the ignore files that were in them."""
    rule_names = {*ignore.GIT_NAMES, *ignore.OWN_NAMES}
    rules = [
        f"{folder}/{name}" if folder else name
        for folder, found in names.items()
        for name in sorted(rule_names & found)
    ]
    return [*names, *rules]


def _walk(chosen: Selection, notes: tuple[str, ...]) -> Walk:
    chosen.files.sort(key=attrgetter("path"))
    return Walk(chosen.files, chosen.sorted_skips(), notes)
