"""Check the files of a git folder before git opens them: do they belong to this work tree, and would opening
one block?

A file or a link named `.git` points to the git folder, and an unpacked archive may bring one that points to
any repository on the machine. Linked work trees and submodules have such a file as well; the folder they
point to names them, or at least does not lie in a work tree of its own.

Git also opens some files by their name alone. If one of them is a FIFO, git waits for ever for a writer. The
files that every command reads are checked before git runs (14 `stat` calls, 20 µs). The ignore and attribute
files of deeper folders are checked only if git has been silent for a while, because finding them takes as
long as a walk.

Git's own files also say which other work trees a repository has; reading them starts no git.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_FILE_BYTES = 4096  # a path and a word
_MOST_WORK_TREES = 1_000  # work trees of one repository that are looked at


def find_git_folder(top: str) -> str:
    """Return the git folder of the work tree `top`; empty if `top` is not the top of a work tree."""
    own = f"{top}/.git"
    try:
        mode = os.stat(own).st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(mode):
        return own
    said = read_beginning(own) if stat.S_ISREG(mode) else ""
    return os.path.join(top, said.removeprefix("gitdir:").strip()) if said else ""


def is_foreign_git_folder(top: str) -> bool:
    """Return whether the git folder of `top` belongs to another work tree."""
    own = f"{top}/.git"
    try:
        if stat.S_ISDIR(os.lstat(own).st_mode):
            return False
    except (OSError, ValueError):
        return False
    folder = os.path.realpath(find_git_folder(top) or own)
    leads_back = read_beginning(f"{folder}/gitdir").strip()
    if leads_back:
        return os.path.realpath(os.path.join(folder, leads_back)) != os.path.realpath(own)
    return os.path.basename(folder) == ".git" and os.path.dirname(folder) != os.path.realpath(top)


def read_beginning(path: str) -> str:
    """Return the beginning of a regular file, empty if it cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as stream:
            return os.fsdecode(stream.read(_FILE_BYTES))
    except (OSError, ValueError):
        return ""


_RULES = (".gitignore", ".gitattributes")
_IN_GIT_FOLDER = (
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "commondir",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "objects/info/alternates",
)
_HAS_FIFOS = os.name != "nt"


def would_block(path: str) -> bool:
    """Return whether opening a path may block: it leads to something that is neither a regular file nor a
    folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def find_blocking_file(root: Path) -> str:
    """Return the first file that every git command in `root` opens and would block on; empty if there is
    none."""
    return next(filter(would_block, _files_git_opens(str(root.absolute()))), "") if _HAS_FIFOS else ""


def _files_git_opens(folder: str) -> Iterator[str]:
    """Yield the paths that every git command in a folder opens."""
    while True:
        for name in _RULES:
            yield f"{folder}/{name}"
        git_folder = find_git_folder(folder)
        if git_folder:
            for name in _IN_GIT_FOLDER:
                yield f"{git_folder}/{name}"
            return
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def search_blocking_file(root: Path, seconds: float) -> str:
    """Return the first file below `root` that git may open and would block on; empty if none was found in
    time."""
    end = time.monotonic() + seconds
    waiting = [str(root.absolute())] if _HAS_FIFOS else []
    while waiting and time.monotonic() < end:
        folder = waiting.pop()
        inside_git = "/.git/" in f"{folder}/"
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif (inside_git or entry.name in _RULES) and would_block(entry.path):
                        return entry.path
        # The folder is gone or unreadable, so git cannot read it either.
        except OSError:
            continue
    return ""


def other_work_trees(root: Path) -> list[Path]:
    """Return the same folder in the other work trees of the repository, that of the main one first.

    A work tree counts only if it and the git folder name each other: an unpacked archive may bring a file
    `.git` that points to any repository of the machine.
    """
    top = next((place for place in (root, *root.parents) if (place / ".git").exists()), None)
    if top is None or is_foreign_git_folder(str(top)):
        return []
    folder = os.path.realpath(find_git_folder(str(top)))
    shared = read_beginning(f"{folder}/commondir").strip()
    common = os.path.realpath(os.path.join(folder, shared)) if shared else folder
    within = root.relative_to(top)
    tops = (Path(place) for place in dict.fromkeys(_work_tree_tops(common)))
    return [place / within for place in tops if place != top and (place / within).is_dir()]


def _work_tree_tops(common: str) -> Iterator[str]:
    """Yield the top folders of the work trees of a git folder, as real paths."""
    if os.path.basename(common) == ".git":
        yield os.path.dirname(common)
    try:
        names = sorted(os.listdir(f"{common}/worktrees"))[:_MOST_WORK_TREES]
    except OSError:
        return
    for name in names:
        link = read_beginning(f"{common}/worktrees/{name}/gitdir").strip()
        top = os.path.dirname(os.path.realpath(os.path.join(f"{common}/worktrees/{name}", link)))
        if link and os.path.exists(link) and not is_foreign_git_folder(top):
            yield top
