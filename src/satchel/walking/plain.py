"""Which files are in a folder, without git's help? One `scandir` per folder, ignored folders not entered."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from satchel.errors import ProjectNotFound
from satchel.types import SkipReason
from satchel.walking.ignore import IgnoreRules
from satchel.walking.paths import SIGNED, os_path
from satchel.walking.selection import Selection

NESTED = "a repository of its own"
_WINDOWS = os.name == "nt"  # elsewhere a folder needs no `stat`

Ignores = Callable[[str, str], bool]
"""(folder, entry) → whether an ignore file leaves the entry out."""


def walk_plain(
    root: Path, rules: Sequence[IgnoreRules], selection: Selection, names: dict[str, set[str]]
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
    selection: Selection,
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
                take_entry(selection, path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # deleted since the folder was listed
                continue


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
