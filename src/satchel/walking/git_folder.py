"""Where does git keep what it knows of a work tree, and does that belong to this work tree?

A file or a link named `.git` leads to it, and a folder that somebody unpacked may bring one that leads to any
repository on the machine. Work trees and submodules have such a file too; theirs leads to a folder that says
so, or that at least does not lie in a work tree of its own.
"""

from __future__ import annotations

import os
import stat

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
