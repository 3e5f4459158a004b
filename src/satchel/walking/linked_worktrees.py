"""Which other work trees does the repository of a folder have? Git's own files say so; git is not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from satchel.walking.git_folder import find_git_folder, is_foreign_git_folder, read_beginning

_MOST = 1_000  # work trees of one repository that are looked at


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
    tops = (Path(place) for place in dict.fromkeys(_tops(common)))
    return [place / within for place in tops if place != top and (place / within).is_dir()]


def _tops(common: str) -> Iterator[str]:
    """Yield the top folders of the work trees of a git folder, as real paths."""
    if os.path.basename(common) == ".git":
        yield os.path.dirname(common)
    try:
        names = sorted(os.listdir(f"{common}/worktrees"))[:_MOST]
    except OSError:
        return
    for name in names:
        link = read_beginning(f"{common}/worktrees/{name}/gitdir").strip()
        top = os.path.dirname(os.path.realpath(os.path.join(f"{common}/worktrees/{name}", link)))
        if link and os.path.exists(link) and not is_foreign_git_folder(top):
            yield top
