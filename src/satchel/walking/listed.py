"""Which of the paths that git lists belong to the segment? The list knows nothing of the disk: a folder
may have become a symlink since, a file may be gone."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.types import SkipReason
from satchel.walking.paths import os_path
from satchel.walking.plain import Ignores, enters, is_junction, take_entry
from satchel.walking.selection import Selection

if TYPE_CHECKING:
    from satchel.walking.git import TreeListing

NOT_IN_CLONE = "the object is not in this clone"


class _Folders:
    """Decides on each folder once, top down."""

    def __init__(self, ignores: Ignores, enter: Callable[[str], bool]) -> None:
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


def select_listed(root: Path, paths: Iterable[str], ignores: Ignores, selection: Selection) -> None:
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
            take_entry(selection, path, status)


def select_blobs(listing: TreeListing, ignores: Ignores, selection: Selection) -> None:
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
