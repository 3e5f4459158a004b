"""List the files of a folder, of git's file list or of a commit, and offer each of them to the file filter.

A folder without git is listed with one `scandir` per folder; ignored folders are not entered. The list that
git prints knows nothing of the disk: a folder may have become a symlink since, and a file may be gone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.errors import ProjectNotFound
from satchel.types import SkipReason
from satchel.walking.file_filter import FileFilter
from satchel.walking.ignore_rules import IgnoreRules
from satchel.walking.paths import SIGNED, os_path

NESTED = "a repository of its own"
_WINDOWS = os.name == "nt"  # on other systems no `stat` is needed to recognise a folder

IsIgnored = Callable[[str, str], bool]
"""(folder, entry) → whether an ignore file leaves the entry out."""
if TYPE_CHECKING:
    from satchel.walking.git import TreeListing
NOT_IN_CLONE = "the object is not in this clone"


def filter_folder_tree(
    root: Path, rules: Sequence[IgnoreRules], file_filter: FileFilter, names: dict[str, set[str]]
) -> None:
    """Offer every file below the root to the filter. The names in a folder are added to `names` before any of
    them is decided, so that nobody looks for an ignore file that is not there; those of folders end with a
    slash."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os_path(root, folder)) as found:
                entries = [(entry.name.decode("utf-8", "surrogateescape"), entry) for entry in found]
        except OSError as error:
            if folder and isinstance(error, FileNotFoundError):  # deleted since its parent was listed
                continue
            # An empty index would claim that the root has no files.
            if not folder:
                raise ProjectNotFound(f"the folder cannot be listed: {error.strerror}") from error
            file_filter.skip(folder, SkipReason.UNREADABLE, error.strerror or "cannot be listed")
            continue
        names[folder] = {f"{name}/" if _is_folder(entry) else name for name, entry in entries}
        if folder and not names[folder].isdisjoint((".git", ".git/")):
            file_filter.skip(folder, SkipReason.VENDORED, NESTED)
        else:
            _visit(folder, entries, waiting, [rule for rule in rules if rule.applies(folder)], file_filter)


def _visit(
    folder: str,
    entries: list[tuple[str, os.DirEntry[bytes]]],
    waiting: list[str],
    rules: list[IgnoreRules],
    file_filter: FileFilter,
) -> None:
    """Offer the entries of one folder to the filter. This runs for every file of every walk, so it calls
    little: most folders have no rules at all."""
    prefix = f"{folder}/" if folder else ""
    for name, entry in entries:
        path = prefix + name
        if name == ".git":
            continue
        if _is_folder(entry):
            if not any(rule.ignores(folder, path + "/") for rule in rules) and file_filter.enters(path):
                waiting.append(path)
        elif not (rules and any(rule.ignores(folder, path) for rule in rules)) and file_filter.admits(
            path, name
        ):
            try:
                add_entry(file_filter, path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # deleted since the folder was listed
                continue


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    """Return whether an entry is a folder, and not a link to one."""
    return entry.is_dir(follow_symlinks=False) and not (
        _WINDOWS and is_junction(entry.stat(follow_symlinks=False))
    )


def names_below(root: Path, left_out: Container[str]) -> dict[str, set[str]]:
    """Return the names in every folder that git lists to find untracked files, and raise OSError if one
    cannot be listed. Those of folders end with a slash. What is `left_out` is not entered: ignored folders,
    and repositories inside the root."""
    found: dict[str, set[str]] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        prefix = f"{folder}/" if folder else ""
        names = found[folder] = set()
        with os.scandir(os_path(root, folder)) as entries:
            for entry in entries:
                name = entry.name.decode("utf-8", "surrogateescape")
                is_folder = _is_folder(entry)
                names.add(f"{name}/" if is_folder else name)
                path = prefix + name
                if is_folder and name != ".git" and path not in left_out:
                    waiting.append(path)
    return found


def folders_above(paths: Iterable[str]) -> set[str]:
    """Return every folder that one of the paths lies in."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def enters_folder(file_filter: FileFilter, full: bytes, folder: str) -> bool:
    """Return whether a walk enters a folder. A repository inside the root is a segment of its own and is not
    entered."""
    if not file_filter.enters(folder):
        return False
    if os.path.lexists(full + b"/.git"):
        file_filter.skip(folder, SkipReason.VENDORED, NESTED)
        return False
    return True


def add_entry(file_filter: FileFilter, path: str, status: os.stat_result) -> None:
    """Add or report the file that `lstat` found under an admitted name."""
    if stat.S_ISREG(status.st_mode):
        # Windows reports the time of creation as the change time.
        if _WINDOWS:
            file_filter.add(path, status.st_size, status.st_mtime_ns)
        else:
            number = status.st_ino & SIGNED
            file_filter.add(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, number)
    elif stat.S_ISLNK(status.st_mode) or is_junction(status):
        file_filter.skip(path, SkipReason.SYMLINK)
    else:
        file_filter.skip(path, SkipReason.UNREADABLE, "not a regular file")


def is_junction(status: os.stat_result) -> bool:
    """Return whether this is a Windows folder that leads elsewhere. `is_symlink` does not tell, and it can
    form a loop."""
    return bool(getattr(status, "st_reparse_tag", False))


class _FolderDecisions:
    """Decides for each folder once, top down, whether it is entered."""

    def __init__(self, ignores: IsIgnored, enter: Callable[[str], bool]) -> None:
        self._ignores = ignores
        self._enter = enter
        self._known = {"": True}

    def is_entered(self, folder: str) -> bool:
        known = self._known.get(folder)
        if known is None:
            parent = folder.rpartition("/")[0]
            known = (
                self.is_entered(parent) and not self._ignores(parent, folder + "/") and self._enter(folder)
            )
            self._known[folder] = known
        return known


def filter_git_paths(root: Path, paths: Iterable[str], ignores: IsIgnored, file_filter: FileFilter) -> None:
    """Offer those files of git's list to the filter that are still on disk."""

    def enter(folder: str) -> bool:
        full = os_path(root, folder)
        return _is_real_folder(full) and enters_folder(file_filter, full, folder)

    folders = _FolderDecisions(ignores, enter)
    base = os_path(root, "") + b"/"
    # The list is sorted, so most files are in the folder of the file before them.
    last, inside = "", True
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder != last:
            last, inside = folder, folders.is_entered(folder)
        if not inside:
            file_filter.count_skipped(folder)
            continue
        try:
            status = os.lstat(base + path.encode("utf-8", "surrogateescape"))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                file_filter.skip(path, SkipReason.UNREADABLE, error.strerror or "")
            continue
        if stat.S_ISDIR(status.st_mode):
            # A submodule is reported when its folder is decided.
            folders.is_entered(path.rstrip("/"))
        elif not ignores(folder, path) and file_filter.admits(path, name):
            add_entry(file_filter, path, status)


def filter_blobs(listing: TreeListing, ignores: IsIgnored, file_filter: FileFilter) -> None:
    """Offer the files of a commit or of git's index to the filter."""
    folders = _FolderDecisions(ignores, file_filter.enters)

    def offered(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if not folders.is_entered(folder):
            file_filter.count_skipped(folder)
            return False
        return not ignores(folder, path) and file_filter.admits(path, name)

    for path in filter(offered, listing.symlinks):
        file_filter.skip(path, SkipReason.SYMLINK)
    for blob in listing.blobs:
        if not offered(blob.path):
            continue
        if blob.size < 0:
            file_filter.skip(blob.path, SkipReason.UNREADABLE, NOT_IN_CLONE)
        else:
            file_filter.add(blob.path, blob.size, blob.stamp)


def _is_real_folder(full: bytes) -> bool:
    try:
        status = os.lstat(full)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and not is_junction(status)
