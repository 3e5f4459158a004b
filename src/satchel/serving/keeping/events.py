"""What does an event of the file system mean for the index?

Most are a path to look at. Some mean that more may have changed than they say: a folder came or went, a rule
changed, another commit was checked out. Some are our own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from satchel.segment import RULE_FILES
from satchel.serving.keeping.places import Places
from satchel.settings import INDEX_FOLDER, PROJECT_FILE

DELETED = 3  # as watchfiles numbers the kinds of events; the others are 1 for added and 2 for modified
_TEMPORARY = re.compile(r"\..*\.sw[a-px]|\.#.*|#.*#")  # swap and lock files that editors keep beside a file
_OF_GIT = re.compile(r"(HEAD|index|packed-refs|info/exclude|refs/.*)(?<!\.lock)")
_TICKET = "settle"


@dataclass(slots=True)
class Changes:
    """What has happened since the index was last brought up to date."""

    paths: set[str] = field(default_factory=set)  # relative to the root
    everything: bool = False  # more may have changed than the paths
    folders: bool = False  # other folders are to be watched now
    settings: bool = False  # the project file changed
    index: bool = False  # somebody wrote the index
    ticket: int = 0  # all that happened before this ticket was written is known

    def __bool__(self) -> bool:
        """Whether there may be something to index."""
        return bool(self.paths) or self.everything

    def add(self, other: Changes) -> None:
        """Take in what was heard later."""
        self.paths |= other.paths
        self.everything |= other.everything
        self.folders |= other.folders
        self.settings |= other.settings
        self.index |= other.index
        self.ticket = max(self.ticket, other.ticket)


def ticket_name(keeper: str, number: int) -> str:
    """The file whose event tells that all events before it have arrived."""
    return f"{_TICKET}-{keeper}-{number}"


def understand(events: Iterable[tuple[int, str]], places: Places, keeper: str) -> Changes:
    """What a batch of events says together; tickets of other keepers say nothing."""
    changes = Changes()
    for kind, spelled in events:
        path = spelled if os.sep == "/" else spelled.replace(os.sep, "/")
        folder, _, name = path.rpartition("/")
        if folder == places.index_folder:
            _of_index(kind, name, places.index_file, keeper, changes)
        elif (inner := _inside(places.git_folders, path)) is not None:
            if _OF_GIT.fullmatch(inner):
                changes.everything = changes.folders = True
        elif name in RULE_FILES:
            changes.everything = changes.folders = True
            changes.settings |= name == PROJECT_FILE
        elif path == places.root or path.startswith(f"{places.root}/"):
            _of_tree(path, name, places, changes)
    return changes


def _of_index(kind: int, name: str, index_file: str, keeper: str, changes: Changes) -> None:
    start = ticket_name(keeper, 0)[:-1]
    if name.startswith(start) and name[len(start) :].isdecimal():
        changes.ticket = max(changes.ticket, int(name[len(start) :]))
    elif not index_file:
        return
    elif name == index_file and kind == DELETED:
        changes.everything = True
    elif name.startswith(index_file):
        changes.index = True


def _of_tree(path: str, name: str, places: Places, changes: Changes) -> None:
    relative = path[len(places.root) + 1 :]
    if path in places.folders or name in (INDEX_FOLDER, ".git") or _is_folder(path):
        changes.everything = changes.folders = True
    elif not _TEMPORARY.fullmatch(name) and INDEX_FOLDER not in relative.split("/"):
        changes.paths.add(relative)


def _inside(folders: tuple[str, ...], path: str) -> str | None:
    """The path below one of the folders; None if it is below none."""
    return next((path[len(folder) + 1 :] for folder in folders if path.startswith(f"{folder}/")), None)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
