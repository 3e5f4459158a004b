"""Which file would make git wait for ever?

Git opens some files by their name alone. A FIFO of such a name keeps it waiting for somebody who writes into
it. The places that every call reads are looked at before git is asked (14 `stat` calls, 20 µs); the ignore
and attribute files of deeper folders only when git has been silent for a while, because finding them takes
as long as a walk.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from satchel.walking.git_folder import find_git_folder

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
_CAN_WAIT = os.name != "nt"


def is_obstacle(path: str) -> bool:
    """Whether opening a path may take for ever: it is there, also by a link, and neither file nor folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def find_at_known_places(root: Path) -> str:
    """The first obstacle that every call of git in `root` would meet; empty if there is none."""
    return next(filter(is_obstacle, _known_places(str(root.absolute()))), "") if _CAN_WAIT else ""


def _known_places(folder: str) -> Iterator[str]:
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


def search(root: Path, seconds: float) -> str:
    """The first obstacle in any folder below `root` that git may read; empty if none was found in time."""
    end = time.monotonic() + seconds
    waiting = [str(root.absolute())] if _CAN_WAIT else []
    while waiting and time.monotonic() < end:
        folder = waiting.pop()
        inside_git = "/.git/" in f"{folder}/"
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif (inside_git or entry.name in _RULES) and is_obstacle(entry.path):
                        return entry.path
        except OSError:  # gone, or not ours to read: git cannot either
            continue
    return ""
