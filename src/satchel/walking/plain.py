"""Which files are in a folder, without git's help? One `scandir` per folder, ignored folders not entered."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from satchel.types import SkipReason
from satchel.walking.paths import os_path
from satchel.walking.selection import Selection

NESTED = "a repository of its own"
_WINDOWS = os.name == "nt"  # elsewhere a folder needs no `stat`

Ignores = Callable[[str, str], bool]
"""(folder, entry) → whether an ignore file leaves the entry out."""


def walk_plain(root: Path, ignores: Ignores, selection: Selection, names: dict[str, set[str]]) -> None:
    """Offers every file below the root to the selection. What a folder holds is noted in `names`
    before any of it is decided, so that nobody has to look for an ignore file that is not there."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os_path(root, folder)) as found:
                entries = list(found)
        except OSError as error:
            selection.skip(folder or ".", SkipReason.UNREADABLE, error.strerror or "cannot be listed")
            continue
        named = [(entry.name.decode("utf-8", "surrogateescape"), entry) for entry in entries]
        names[folder] = {name for name, _ in named}
        if folder and ".git" in names[folder]:
            selection.skip(folder, SkipReason.VENDORED, NESTED)
            continue
        for name, entry in named:
            _visit(entry, name, folder, waiting, ignores, selection)


def _visit(
    entry: os.DirEntry[bytes],
    name: str,
    folder: str,
    waiting: list[str],
    ignores: Ignores,
    selection: Selection,
) -> None:
    path = f"{folder}/{name}" if folder else name
    if name == ".git":
        return
    if entry.is_dir(follow_symlinks=False) and not (
        _WINDOWS and is_junction(entry.stat(follow_symlinks=False))
    ):
        if not ignores(folder, path + "/") and selection.enters(path):
            waiting.append(path)
    elif not ignores(folder, path) and selection.admits(path, name):
        take_entry(selection, path, entry.stat(follow_symlinks=False))


def enters(selection: Selection, full: bytes, folder: str) -> bool:
    """Whether the walk goes into a folder; a repository inside the root is a segment of its own."""
    if not selection.enters(folder):
        return False
    if os.path.lexists(full + b"/.git"):
        selection.skip(folder, SkipReason.VENDORED, NESTED)
        return False
    return True


def take_entry(selection: Selection, path: str, status: os.stat_result) -> None:
    """Offers what `lstat` found under an admitted name."""
    if stat.S_ISREG(status.st_mode):
        selection.take(path, status.st_size, status.st_mtime_ns)
    elif stat.S_ISLNK(status.st_mode) or is_junction(status):
        selection.skip(path, SkipReason.SYMLINK)
    else:
        selection.skip(path, SkipReason.UNREADABLE, "not a regular file")


def is_junction(status: os.stat_result) -> bool:
    """A folder on Windows that leads elsewhere: `is_symlink` does not tell, and it can form a loop."""
    return bool(getattr(status, "st_reparse_tag", False))
