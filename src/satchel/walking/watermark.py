"""A watermark is a short value that differs when the files of a segment (may) differ.

In a git work tree it consists of the commit and of what differs from it. Elsewhere it consists of the number
of files, the newest modification time and the total size.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from satchel.ids import hash_bytes
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Walk
from satchel.walking.git import list_work_tree, locate_in_repository
from satchel.walking.git_command import GitUnusable, filters_off, run_git
from satchel.walking.own_output import is_own_path
from satchel.walking.paths import os_path
from satchel.walking.work_tree import WorkTree, in_repository

_STATUS = (
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=all",  # a submodule obeys its own configuration, which is not overridden
)


class WatermarkKind(StrEnum):
    """What a watermark was computed from."""

    GIT = "git"
    FILESYSTEM = "filesystem"


class Watermark(Struct, frozen=True):
    """The state of the files of a segment. Equal watermarks mean equal files, as far as a quick check can
    tell."""

    kind: WatermarkKind
    git_head: str | None = None  # None in a repository without commits
    git_dirty: bool | None = None
    dirty_hash: str | None = None
    file_count: int | None = None
    max_mtime_ms: int | None = None
    total_bytes: int | None = None


def compute(root: Path, options: WalkOptions | None = None, walk: Walk | None = None) -> Watermark:
    """Return the present watermark of a folder. If `walk` is given, a folder without git is not walked
    again."""
    index_folder = options.index_folder if options is not None else ""
    found = from_git(root, index_folder) if in_repository(root) else None
    return found or from_files((walk or WorkTree(root, options).entries()).files)


def from_git(root: Path, index_folder: str = "") -> Watermark | None:
    """Return the watermark of a git work tree, None if git cannot answer. `index_folder` is an index folder
    inside the root that has another name than ours."""
    try:
        return _from_git(root, index_folder)
    except GitUnusable:
        return None


def from_files(files: Sequence[FileEntry]) -> Watermark:
    """Return the watermark of these files, without git."""
    latest = max((entry.mtime_ns for entry in files), default=0)
    return from_totals(len(files), latest, sum(entry.size for entry in files))


def from_totals(file_count: int, latest_mtime_ns: int, total_bytes: int) -> Watermark:
    """Return the watermark of files whose totals are known already."""
    return Watermark(
        WatermarkKind.FILESYSTEM,
        file_count=file_count,
        max_mtime_ms=latest_mtime_ns // 1_000_000,
        total_bytes=total_bytes,
    )


def from_content(head: str, content_id: str) -> Watermark:
    """Return the watermark of a tree that never changes: a commit, or what is staged."""
    return Watermark(
        WatermarkKind.GIT, git_head=head or None, git_dirty=False, dirty_hash=hash_bytes(content_id.encode())
    )


def _from_git(root: Path, index_folder: str) -> Watermark:
    place = locate_in_repository(root)
    prefix = place.prefix
    # A folder that its repository ignores is refused here, because git would never see it change.
    if prefix:
        list_work_tree(root, place=place)
    status = run_git(root, [*_STATUS, "--", "."], config=filters_off(root))
    dirty = [
        record
        for record in status.split(b"\0")
        if record and not is_own_path(_relative(record[3:], prefix), index_folder)
    ]
    seen = b"\0".join(part for record in dirty for part in (record, _stat_stamp(root, prefix, record[3:])))
    return Watermark(
        WatermarkKind.GIT, git_head=place.head or None, git_dirty=bool(dirty), dirty_hash=hash_bytes(seen)
    )


def _relative(path: bytes, prefix: str) -> str:
    """Return a path of the repository as one of the root, which lies at `prefix` in it."""
    return path.decode("utf-8", "surrogateescape").removeprefix(prefix)


def _stat_stamp(root: Path, prefix: str, path: bytes) -> bytes:
    try:
        status = os.lstat(os_path(root, _relative(path, prefix)))
    except OSError:
        return b"gone"
    changed = (0, 0) if os.name == "nt" else (status.st_ctime_ns, status.st_ino)
    return b"%d %d %d %d" % (status.st_size, status.st_mtime_ns, *changed)
