"""Which files are in a folder, without git's help? One `scandir` per folder, ignored folders not entered."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.errors import ProjectNotFound
from satchel.types import SkipReason
from satchel.walking.file_filter import FileFilter
from satchel.walking.ignore_rules import IgnoreRules
from satchel.walking.paths import SIGNED, os_path

NESTED = "a repository of its own"
_WINDOWS = os.name == "nt"  # elsewhere a folder needs no `stat`

IsIgnored = Callable[[str, str], bool]
"""(folder, entry) → whether an ignore file leaves the entry out."""
if TYPE_CHECKING:
    from satchel.walking.git import TreeListing
NOT_IN_CLONE = "the object is not in this clone"


def filter_folder_tree(
    root: Path, rules: Sequence[IgnoreRules], selection: FileFilter, names: dict[str, set[str]]
) -> None:
    """Offers every file below the root to the selection. What a folder holds is noted in `names`
    before any of it is decided, so that nobody has to look for an ignore file that is not there."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os_path(root, folder)) as found:
                entries = [(entry.name.decode("utf-8", "surrogateescape"), entry) for entry in found]
        except OSError as error:
            if folder and isinstance(error, FileNotFoundError):  # deleted since its parent was listed
                continue
            if not folder:  # an empty index would be a lie
                raise ProjectNotFound(f"the folder cannot be listed: {error.strerror}") from error
            selection.skip(folder, SkipReason.UNREADABLE, error.strerror or "cannot be listed")
            continue
        names[folder] = {name for name, _ in entries}
        if folder and ".git" in names[folder]:
            selection.skip(folder, SkipReason.VENDORED, NESTED)
        else:
            _visit(folder, entries, waiting, [rule for rule in rules if rule.applies(folder)], selection)


def _visit(
    folder: str,
    entries: list[tuple[str, os.DirEntry[bytes]]],
    waiting: list[str],
    rules: list[IgnoreRules],
    selection: FileFilter,
) -> None:
    """Runs for every file of every walk, so it calls little: most folders have no rules at all."""
    prefix = f"{folder}/" if folder else ""
    for name, entry in entries:
        path = prefix + name
        if name == ".git":
            continue
        if entry.is_dir(follow_symlinks=False) and not (
            _WINDOWS and is_junction(entry.stat(follow_symlinks=False))
        ):
            if not any(rule.ignores(folder, path + "/") for rule in rules) and selection.enters(path):
                waiting.append(path)
        elif not (rules and any(rule.ignores(folder, path) for rule in rules)) and selection.admits(
            path, name
        ):
            try:
                add_entry(selection, path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # deleted since the folder was listed
                continue


def enters(selection: FileFilter, full: bytes, folder: str) -> bool:
    """Whether the walk goes into a folder; a repository inside the root is a segment of its own."""
    if not selection.enters(folder):
        return False
    if os.path.lexists(full + b"/.git"):
        selection.skip(folder, SkipReason.VENDORED, NESTED)
        return False
    return True


def add_entry(selection: FileFilter, path: str, status: os.stat_result) -> None:
    """Offers what `lstat` found under an admitted name."""
    if stat.S_ISREG(status.st_mode):
        if _WINDOWS:  # the time of creation stands there under the name of the change time
            selection.take(path, status.st_size, status.st_mtime_ns)
        else:
            number = status.st_ino & SIGNED
            selection.take(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, number)
    elif stat.S_ISLNK(status.st_mode) or is_junction(status):
        selection.skip(path, SkipReason.SYMLINK)
    else:
        selection.skip(path, SkipReason.UNREADABLE, "not a regular file")


def is_junction(status: os.stat_result) -> bool:
    """A folder on Windows that leads elsewhere: `is_symlink` does not tell, and it can form a loop."""
    return bool(getattr(status, "st_reparse_tag", False))


class _Folders:
    """Decides on each folder once, top down."""

    def __init__(self, ignores: IsIgnored, enter: Callable[[str], bool]) -> None:
        self._ignores = ignores
        self._enter = enter
        self._known = {"": True}

    def entered(self, folder: str) -> bool:
        known = self._known.get(folder)
        if known is None:
            parent = folder.rpartition("/")[0]
            known = self.entered(parent) and not self._ignores(parent, folder + "/") and self._enter(folder)
            self._known[folder] = known
        return known


def filter_git_paths(root: Path, paths: Iterable[str], ignores: IsIgnored, selection: FileFilter) -> None:
    """Offers the files of a work tree that are still on disk."""

    def enter(folder: str) -> bool:
        full = os_path(root, folder)
        return _is_real_folder(full) and enters(selection, full, folder)

    folders = _Folders(ignores, enter)
    base = os_path(root, "") + b"/"
    last, entered = "", True  # the list is sorted: most files are in the folder of the one before
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder != last:
            last, entered = folder, folders.entered(folder)
        if not entered:
            selection.count(folder)
            continue
        try:
            status = os.lstat(base + path.encode("utf-8", "surrogateescape"))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                selection.skip(path, SkipReason.UNREADABLE, error.strerror or "")
            continue
        if stat.S_ISDIR(status.st_mode):
            folders.entered(path.rstrip("/"))  # a submodule: reported where it is decided
        elif not ignores(folder, path) and selection.admits(path, name):
            add_entry(selection, path, status)


def filter_blobs(listing: TreeListing, ignores: IsIgnored, selection: FileFilter) -> None:
    """Offers the files of a commit, or of git's index."""
    folders = _Folders(ignores, selection.enters)

    def offered(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if not folders.entered(folder):
            selection.count(folder)
            return False
        return not ignores(folder, path) and selection.admits(path, name)

    for path in filter(offered, listing.symlinks):
        selection.skip(path, SkipReason.SYMLINK)
    for blob in listing.blobs:
        if not offered(blob.path):
            continue
        if blob.size < 0:
            selection.skip(blob.path, SkipReason.UNREADABLE, NOT_IN_CLONE)
        else:
            selection.take(blob.path, blob.size, blob.stamp)


def _is_real_folder(full: bytes) -> bool:
    try:
        status = os.lstat(full)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and not is_junction(status)
