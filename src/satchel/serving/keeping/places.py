"""Which folders have to be watched, so that no change of a segment goes unseen?

On Linux each folder takes a watch of its own, so only those are watched that files of the segment can be in:
not the packages of other people, not what git ignores, not the objects of git. A link is never followed.
Other systems watch a whole tree as one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from satchel.settings import WalkOptions
from satchel.walking.file_filter import FileFilter
from satchel.walking.git_command import GitUnusable, run_git
from satchel.walking.work_tree import in_repository

_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
_FOLDERS_OF_GIT = ("refs", "info")  # where branches move, and where a file of ignore rules is


@dataclass(frozen=True, slots=True)
class Places:
    """What is watched, by absolute paths; `folders` as the system spells them, the others POSIX style."""

    root: str
    index_folder: str
    index_file: str  # its name; empty if the index is in no file
    git_folders: tuple[str, ...]  # the one of the work tree, then the one that work trees share
    folders: frozenset[str]
    recursive: bool


def find_places(root: Path, options: WalkOptions, index_folder: Path, index_file: Path | None) -> Places:
    """The folders of a segment, of its index and of its repository, as they are now."""
    own = _git_folders(root)
    name = index_file.name if index_file is not None else ""
    outside = {str(index_folder), *own, *_above(root, own)}
    if not sys.platform.startswith("linux"):
        far = {folder for folder in outside if not Path(folder).is_relative_to(root)}
        return Places(root.as_posix(), index_folder.as_posix(), name, own, frozenset({str(root), *far}), True)
    deep = {folder for base in own for name in _FOLDERS_OF_GIT for folder in _below(f"{base}/{name}")}
    inside = {
        str(root),
        str(root.parent),
        *_entered(root, options, _ignored(root)),
    }  # the parent knows of moves
    found = (folder for folder in inside | outside | deep if os.path.isdir(folder))
    return Places(str(root), str(index_folder), name, own, frozenset(found), False)


def _git_folders(root: Path) -> tuple[str, ...]:
    """A work tree beside the first one has a folder of its own, and its branches in the common one."""
    if not in_repository(root):
        return ()
    try:
        said = run_git(root, ["rev-parse", "--absolute-git-dir", "--git-common-dir"])
    except GitUnusable:
        return ()
    lines = os.fsdecode(said).rstrip("\n").split("\n")
    return tuple(dict.fromkeys(Path(os.path.normpath(root / line)).as_posix() for line in lines))


def _above(root: Path, git_folders: tuple[str, ...]) -> Iterator[str]:
    """The folders between the root and the top of its repository: their ignore rules hold below."""
    if not git_folders or (root / ".git").exists():
        return
    for folder in root.parents:
        yield str(folder)
        if (folder / ".git").exists():
            return


def _ignored(root: Path) -> frozenset[str]:
    """The folders that git ignores whole: build output, above all, which changes often and by thousands."""
    if not in_repository(root):
        return frozenset()
    try:
        listed = run_git(root, _IGNORED)
    except GitUnusable:
        return frozenset()
    return frozenset(path[:-1] for path in os.fsdecode(listed).split("\0") if path.endswith("/"))


def _entered(root: Path, options: WalkOptions, ignored: frozenset[str]) -> Iterator[str]:
    """The folders that a walk may find files in, whether there are any or not."""
    selection = FileFilter(options)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for name in _folders_in(str(root / folder)):
            path = f"{folder}/{name}" if folder else name
            if path not in ignored and selection.enters(path):
                yield str(root / path)
                waiting.append(path)


def _below(folder: str) -> Iterator[str]:
    yield folder
    for name in _folders_in(folder):
        yield from _below(f"{folder}/{name}")


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # gone since it was listed, or not ours to read: a walk reports that
        return []
