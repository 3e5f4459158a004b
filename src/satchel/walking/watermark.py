"""A watermark is a short value that differs when the files of a segment (may) differ.

In a git work tree it consists of the commit and of what differs from it. Elsewhere it consists of the number
of files, the newest modification time and the total size.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from satchel.ids import hash_bytes
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Walk
from satchel.walking.git import list_work_tree, locate_in_repository
from satchel.walking.git_command import (
    GitProblem,
    GitUnusable,
    Overrides,
    Setting,
    run_git,
    settings_without_filters,
)
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
_IGNORED, _UNTRACKED = b"!! ", b"?? "


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


class GitAnswers(Struct, frozen=True, array_like=True):
    """What git said of a work tree, as far as it stays true while nothing but files changes."""

    prefix: str  # of the root in its repository
    head: str
    filters_off: Overrides  # the settings that keep git from running content filters
    dirty: tuple[bytes, ...]  # the records of its status, without ignored paths


class GitLook(Struct, frozen=True):
    """What git said of a work tree: its watermark, the paths it ignores (if they were asked for; a folder
    ends with a slash), the settings that were in force, and the answers that the watermark is made of."""

    watermark: Watermark
    ignored: frozenset[str]
    settings: list[Setting]
    answers: GitAnswers


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
        return look_with_git(root, index_folder).watermark
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


def as_values(mark: Watermark) -> dict[str, Any]:
    """Return a watermark as an answer has it: its fields by name."""
    return dict(sorted(msgspec.structs.asdict(mark).items()))


def from_content(head: str, content_id: str) -> Watermark:
    """Return the watermark of a tree that never changes: a commit, or what is staged."""
    return Watermark(
        WatermarkKind.GIT, git_head=head or None, git_dirty=False, dirty_hash=hash_bytes(content_id.encode())
    )


def look_with_git(root: Path, index_folder: str = "", *, ignored: bool = False) -> GitLook:
    """Ask git for the watermark of a work tree, and for the folders that it ignores if these are wanted."""
    place = locate_in_repository(root)
    prefix = place.prefix
    # A folder that its repository ignores is refused here, because git would never see it change.
    if prefix:
        list_work_tree(root, place=place)
    off, settings = settings_without_filters(root)
    flags = ["--ignored=matching"] if ignored else []
    records = run_git(root, [*_STATUS, *flags, "--", "."], config=off).split(b"\0")
    dirty = tuple(record for record in records if record and not record.startswith(_IGNORED))
    left_out = frozenset(_relative(record[3:], prefix) for record in records if record.startswith(_IGNORED))
    answers = GitAnswers(prefix, place.head, off, dirty)
    return GitLook(_from_answers(root, index_folder, answers), left_out, settings, answers)


def ask_git_again(
    root: Path, index_folder: str, known: GitAnswers, paths: Sequence[str]
) -> tuple[Watermark, GitAnswers]:
    """Ask git for the watermark of a work tree in which nothing changed but these files since it gave the
    answers that are known."""
    if not paths:
        return _from_answers(root, index_folder, known), known
    literal = [f":(literal){path}" for path in paths]
    records = run_git(root, [*_STATUS, "--", *literal], config=known.filters_off).split(b"\0")
    changed = {(known.prefix + path).encode("utf-8", "surrogateescape") for path in paths}
    dirty = [record for record in known.dirty if record[3:] not in changed]
    dirty += [record for record in records if record]
    # The order of git: what differs from the commit by path, then what is not tracked.
    dirty.sort(key=lambda record: (record.startswith(_UNTRACKED), record[3:]))
    answers = msgspec.structs.replace(known, dirty=tuple(dirty))
    return _from_answers(root, index_folder, answers), answers


def encode_answers(answers: GitAnswers) -> bytes:
    """Return git's answers as they are kept."""
    return msgspec.msgpack.encode(answers)


def decode_answers(kept: bytes) -> GitAnswers:
    """Return git's answers that were kept; GitUnusable is raised if they cannot be read."""
    try:
        return msgspec.msgpack.decode(kept, type=GitAnswers)
    except msgspec.MsgspecError as error:
        raise GitUnusable(GitProblem.FAILED, "what it said is not kept") from error


def _from_answers(root: Path, index_folder: str, answers: GitAnswers) -> Watermark:
    """Return the watermark that git's answers make, with the stamps of the files that differ."""
    prefix = answers.prefix
    dirty = [
        record for record in answers.dirty if not is_own_path(_relative(record[3:], prefix), index_folder)
    ]
    seen = b"\0".join(part for record in dirty for part in (record, _stat_stamp(root, prefix, record[3:])))
    return Watermark(
        WatermarkKind.GIT, git_head=answers.head or None, git_dirty=bool(dirty), dirty_hash=hash_bytes(seen)
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
