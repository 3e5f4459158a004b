"""Where does git keep what it knows of a work tree, and does that belong to this work tree?

A file or a link named `.git` leads to it, and a folder that somebody unpacked may bring one that leads to any
repository on the machine. Work trees and submodules have such a file too; theirs leads to a folder that says
so, or that at least does not lie in a work tree of its own.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_FILE_BYTES = 4096  # a path and a word


def find_git_folder(top: str) -> str:
    """The folder behind `.git` in `top`; empty if `top` is not the top of a work tree."""
    own = f"{top}/.git"
    try:
        mode = os.stat(own).st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(mode):
        return own
    said = _read(own) if stat.S_ISREG(mode) else ""
    return os.path.join(top, said.removeprefix("gitdir:").strip()) if said else ""


def is_borrowed(top: str) -> bool:
    """Whether the git folder of `top` is that of another work tree."""
    own = f"{top}/.git"
    try:
        if stat.S_ISDIR(os.lstat(own).st_mode):
            return False
    except (OSError, ValueError):
        return False
    folder = os.path.realpath(find_git_folder(top) or own)
    leads_back = _read(f"{folder}/gitdir").strip()
    if leads_back:
        return os.path.realpath(os.path.join(folder, leads_back)) != os.path.realpath(own)
    return os.path.basename(folder) == ".git" and os.path.dirname(folder) != os.path.realpath(top)


def _read(path: str) -> str:
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
    """Whether opening a path may take for ever: it is there, also by a link, and neither file nor folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def find_blocking_file(root: Path) -> str:
    """The first obstacle that every call of git in `root` would meet; empty if there is none."""
    return next(filter(would_block, _files_git_opens(str(root.absolute()))), "") if _HAS_FIFOS else ""


def _files_git_opens(folder: str) -> Iterator[str]:
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
    """The first obstacle in any folder below `root` that git may read; empty if none was found in time."""
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
        except OSError:  # gone, or not ours to read: git cannot either
            continue
    return ""
