"""Which files does a segment have, and what are their bytes? From a work tree or from a git ref."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from satchel.errors import FileNotFound, ProjectNotFound, SatchelError
from satchel.plugins import late
from satchel.settings import WalkOptions
from satchel.types import Skipped, SkipReason, Walk
from satchel.walking.ignore import GIT_NAMES, MAX_IGNORE_BYTES, OWN_NAMES, IgnoreRules, Load, ignore_lines
from satchel.walking.listed import select_blobs, select_listed
from satchel.walking.paths import check_relative, open_inside, os_path
from satchel.walking.plain import Ignores, walk_plain
from satchel.walking.selection import Selection

if TYPE_CHECKING:
    from satchel.walking import git, git_command
else:  # a folder without git never needs them
    git = late("satchel.walking.git")
    git_command = late("satchel.walking.git_command")


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


class WorkTree:
    """The files on disk. In a git work tree git answers for `.gitignore`; else the files are read here."""

    def __init__(self, root: Path, options: WalkOptions | None = None) -> None:
        if not root.is_dir():
            raise ProjectNotFound(f"{str(root)!r} is not a folder", details={"root": str(root)})
        self.root = root
        self.options = options or WalkOptions()

    def entries(self) -> Walk:
        selection = Selection(self.options)
        names: dict[str, set[str]] = {}

        def load(folder: str, name: str) -> bytes | None:
            return self._load(folder, name) if name in names.get(folder, (name,)) else None

        own = _own_rules(load, self.options)
        notes: tuple[str, ...] = ()
        listed: list[str] | None = None
        if in_repository(self.root):
            try:
                listed = git.list_work_tree(self.root)
            except git_command.GitUnusable as problem:
                notes = (f"{problem.message}; the folder was walked without git",)
        if listed is None:
            theirs = IgnoreRules(GIT_NAMES, load, self._excluded())
            walk_plain(self.root, [theirs, *own], selection, names)
        else:
            select_listed(self.root, listed, _any_of(own), selection)
        return _walk(selection, notes)

    def look(self, paths: Sequence[str]) -> Walk:
        wanted = sorted({check_relative(path) for path in paths} - {""})
        selection = Selection(self.options)
        rules = _own_rules(self._load, self.options)
        notes: tuple[str, ...] = ()
        listed = wanted
        try:
            if in_repository(self.root):
                listed = git.list_work_tree(self.root, wanted)
        except git_command.GitUnusable as problem:
            notes = (f"{problem.message}; the files were looked at without git",)
        if listed is wanted:
            rules = [IgnoreRules(GIT_NAMES, self._load, self._excluded()), *rules]
        select_listed(self.root, listed, _any_of(rules), selection)
        return _walk(selection, notes)

    def _excluded(self) -> list[str]:
        return ignore_lines(self._load(".git/info", "exclude"))

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
            return open_inside(self.root, path, MAX_IGNORE_BYTES + 1)
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
        selection = Selection(self.options)
        select_blobs(listing, _any_of(_own_rules(self._loader(), self.options)), selection)
        return _walk(selection, ())

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

    def _listed(self) -> git.TreeListing:
        if self._listing is None:
            self._listing = git.list_tree(self.root, self.commit)
            self._shas = {blob.path: blob.sha for blob in self._listing.blobs if blob.size >= 0}
        return self._listing

    def _loader(self) -> Load:
        """Ignore files as they were at that commit, read in one go."""
        wanted = [path for path in self._shas if path.rpartition("/")[2] in OWN_NAMES]
        found = {path: data for path, data in self.read_many(wanted) if isinstance(data, bytes)}
        return lambda folder, name: found.get(f"{folder}/{name}" if folder else name)


def _own_rules(load: Load, options: WalkOptions) -> list[IgnoreRules]:
    """`.ignore` and `.satchelignore`; what the caller adds cannot be taken in again by a file."""
    rules = [IgnoreRules(OWN_NAMES, load)]
    if options.extra_ignores:
        rules.append(IgnoreRules((), load, options.extra_ignores))
    return rules


def _any_of(rules: Sequence[IgnoreRules]) -> Ignores:
    return lambda folder, entry: any(rule.ignores(folder, entry) for rule in rules)


def in_repository(root: Path) -> bool:
    """Asked first, because starting git takes longer than walking a small folder."""
    return any(os.path.lexists(folder / ".git") for folder in (root.absolute(), *root.absolute().parents))


def _walk(selection: Selection, notes: tuple[str, ...]) -> Walk:
    selection.files.sort(key=attrgetter("path"))
    return Walk(selection.files, selection.sorted_skips(), notes)
