"""File system events: which folders are watched, how events are received, and what they mean for the index.

On Linux every folder takes a watch of its own. So only folders are watched that can hold files of the
segment: no third-party packages, nothing that git ignores, no git objects. Symbolic links are never followed.
On other systems one watch covers a whole tree.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from satchel.plugins import late
from satchel.settings import INDEX_FOLDER, PROJECT_FILE, WalkOptions
from satchel.updated_index import RULE_FILES
from satchel.walking.file_filter import FileFilter
from satchel.walking.git_command import GitUnusable, run_git
from satchel.walking.own_output import is_own_name, is_own_path
from satchel.walking.work_tree import in_repository

if TYPE_CHECKING:
    from satchel.serving.watching import inotify
else:  # loads what only a process that watches needs
    inotify = late("satchel.serving.watching.inotify")

_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
_WATCHED_GIT_FOLDERS = ("refs", "info")  # branches move in the first, the second has a file of ignore rules

_QUIET_MS = 10  # a batch of events ends after this much silence; a stop is noticed as soon
_MAX_BATCH_MS = 100  # a batch is handed out after this time, even if events keep coming
_POLL_MS = 300  # how often watchfiles lists the folders itself on systems without events

MODIFIED, DELETED = 2, 3  # watchfiles numbers the kinds of events; 1 is added
_EDITOR_FILE = re.compile(r"\..*\.sw[a-px]|\.#.*|#.*#")  # swap and lock files that editors keep beside a file
_GIT_STATE_FILE = re.compile(r"(HEAD|index|packed-refs|info/exclude|refs/.*)(?<!\.lock)")
_COOKIE = "settle"


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    """What is watched, as absolute paths; `folders` as the system spells them, the others in POSIX style."""

    root: str
    index_folder: str
    index_file: str  # the name of the index file; empty if the store has no file
    git_folders: tuple[str, ...]  # the git folder of the work tree, then the one that work trees share
    folders: frozenset[str]
    recursive: bool


def find_watched_folders(
    root: Path, options: WalkOptions, index_folder: Path, index_file: Path | None
) -> WatchedFolders:
    """Return the folders of a segment, of its index and of its git repository, as they are now."""
    index_name = index_file.name if index_file is not None else ""
    git_folders = _git_folders(root)
    outside = {str(index_folder), *git_folders, *_folders_above(root, git_folders)}
    if not sys.platform.startswith("linux"):
        far = {folder for folder in outside if not Path(folder).is_relative_to(root)}
        folders = frozenset({str(root), *far})
        return WatchedFolders(
            root.as_posix(), index_folder.as_posix(), index_name, git_folders, folders, recursive=True
        )
    git_state = {
        folder
        for base in git_folders
        for name in _WATCHED_GIT_FOLDERS
        for folder in _folders_below(f"{base}/{name}")
    }
    # The parent reports that the root itself was moved or deleted.
    inside = {str(root), str(root.parent), *_walked_folders(root, options, _ignored_folders(root))}
    found = (folder for folder in inside | outside | git_state if os.path.isdir(folder))
    return WatchedFolders(
        str(root), str(index_folder), index_name, git_folders, frozenset(found), recursive=False
    )


def _git_folders(root: Path) -> tuple[str, ...]:
    """Return the git folder of `root` and, for a linked work tree, the common one that has the branches."""
    if not in_repository(root):
        return ()
    try:
        output = run_git(root, ["rev-parse", "--absolute-git-dir", "--git-common-dir"])
    except GitUnusable:
        return ()
    lines = os.fsdecode(output).rstrip("\n").split("\n")
    return tuple(dict.fromkeys(Path(os.path.normpath(root / line)).as_posix() for line in lines))


def _folders_above(root: Path, git_folders: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders from `root` up to the top of its repository: their ignore rules hold below."""
    if not git_folders or (root / ".git").exists():
        return
    for folder in root.parents:
        yield str(folder)
        if (folder / ".git").exists():
            return


def _ignored_folders(root: Path) -> frozenset[str]:
    """Return the folders that git ignores whole, such as build output that changes often and by thousands."""
    if not in_repository(root):
        return frozenset()
    try:
        listed = run_git(root, _IGNORED)
    except GitUnusable:
        return frozenset()
    return frozenset(path[:-1] for path in os.fsdecode(listed).split("\0") if path.endswith("/"))


def _walked_folders(root: Path, options: WalkOptions, ignored: frozenset[str]) -> Iterator[str]:
    """Yield the folders that a walk enters, whether they hold files now or not."""
    file_filter = FileFilter(options)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for name in _subfolders(str(root / folder)):
            path = f"{folder}/{name}" if folder else name
            if path not in ignored and file_filter.enters(path):
                yield str(root / path)
                waiting.append(path)


def _folders_below(folder: str) -> Iterator[str]:
    yield folder
    for name in _subfolders(folder):
        yield from _folders_below(f"{folder}/{name}")


def _subfolders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # deleted since it was listed, or not readable, which a walk reports
        return []


class WatchFailed(Exception):
    """The folders cannot be watched, or events were lost."""


class FolderWatcher(Protocol):
    """Receives the events of the watched folders until it is closed."""

    watched: WatchedFolders

    def wait(self, milliseconds: int) -> set[tuple[int, str]]:
        """Return the next batch of events as pairs of kind and path; an empty set after `milliseconds`."""

    def close(self) -> None:
        """Stop watching and free the watches."""


def watch_folders(watched: WatchedFolders, stop: threading.Event) -> FolderWatcher:
    """Return a watcher of the folders; WatchFailed is raised where there can be none."""
    try:
        on_linux = not watched.recursive and inotify.is_supported()
        return (_LinuxWatcher if on_linux else _AnyWatcher)(watched, stop)
    except (OSError, RuntimeError) as error:
        raise WatchFailed(str(error)) from error


class _LinuxWatcher:
    """Watches folders one by one. The event of a cookie ends a batch, because somebody waits for it."""

    def __init__(self, watched: WatchedFolders, stop: threading.Event) -> None:
        self.watched = watched
        self._stop = stop
        quiet = frozenset({watched.index_folder})
        self._events = inotify.InotifyWatcher(sorted(watched.folders), _is_cookie, quiet)

    def wait(self, milliseconds: int) -> set[tuple[int, str]]:
        try:
            return self._events.wait(milliseconds, _QUIET_MS, _MAX_BATCH_MS, self._stop)
        except OSError as error:
            raise WatchFailed(str(error)) from error

    def close(self) -> None:
        self._events.close()


class _AnyWatcher:
    """Watches folders with watchfiles, where the system is another one than Linux.

    Three traps of watchfiles: it drops its events when it is told to stop, it keeps failing once a file name
    was not valid text, and it is silent when the queue of the system overflowed. So a stopped watcher is
    never used again, a failed one is replaced, and its user checks all files after a flood of events.
    """

    def __init__(self, watched: WatchedFolders, stop: threading.Event) -> None:
        # watchfiles loads asyncio, so only a process that watches imports it. A server works without the
        # package: it polls the folders, as it does where the file system gives no events.
        try:
            from watchfiles._rust_notify import RustNotify
        except ImportError:
            raise WatchFailed("the package watchfiles is not installed") from None

        self.watched = watched
        self._stop = stop
        self._notify = RustNotify(sorted(watched.folders), False, False, _POLL_MS, watched.recursive, True)

    def wait(self, milliseconds: int) -> set[tuple[int, str]]:
        try:
            found: Any = self._notify.watch(_MAX_BATCH_MS, _QUIET_MS, milliseconds, self._stop)
        except (OSError, RuntimeError) as error:
            raise WatchFailed(str(error)) from error
        return found if isinstance(found, set) else set()

    def close(self) -> None:
        self._notify.close()


@dataclass(slots=True)
class PendingChanges:
    """The changes that events reported since the index was last brought up to date."""

    paths: set[str] = field(default_factory=set)  # relative to the root
    everything: bool = False  # more may have changed than `paths`
    folders: bool = False  # the set of folders to watch may have changed
    settings: bool = False  # the project file changed
    index: bool = False  # some process wrote the index
    cookie: int = 0  # the events of every change made before this cookie have arrived

    def __bool__(self) -> bool:
        """Return whether there may be something to index."""
        return bool(self.paths) or self.everything

    def add(self, other: PendingChanges) -> None:
        """Add changes that were reported later."""
        self.paths |= other.paths
        self.everything |= other.everything
        self.folders |= other.folders
        self.settings |= other.settings
        self.index |= other.index
        self.cookie = max(self.cookie, other.cookie)


def _is_cookie(name: str) -> bool:
    return name.startswith(f"{_COOKIE}-")


def cookie_name(updater: str, number: int) -> str:
    """Return the name of a cookie file of an updater."""
    return f"{_COOKIE}-{updater}-{number}"


def interpret_events(
    events: Iterable[tuple[int, str]], watched: WatchedFolders, updater: str
) -> PendingChanges:
    """Return what a batch of events means for the index; the cookies of other updaters mean nothing.

    Most events name one path to check. A folder that came or went, a changed ignore rule or another commit
    mean that more may have changed than the event names.
    """
    changes = PendingChanges()
    for kind, spelled in events:
        path = spelled if os.sep == "/" else spelled.replace(os.sep, "/")
        folder, _, name = path.rpartition("/")
        if folder == watched.index_folder and _is_own_file(name, watched):
            _add_index_event(kind, name, watched.index_file, updater, changes)
        elif (inner := _path_inside(watched.git_folders, path)) is not None:
            if _GIT_STATE_FILE.fullmatch(inner):
                changes.everything = changes.folders = True
        elif name in RULE_FILES:
            changes.everything = changes.folders = True
            changes.settings |= name == PROJECT_FILE
        elif path == watched.root or path.startswith(f"{watched.root}/"):
            _add_tree_event(path, name, watched, changes)
    return changes


def _is_own_file(name: str, watched: WatchedFolders) -> bool:
    """Return whether a file of the index folder is ours: by one of the usual names, or by that of the
    index."""
    stem = watched.index_file.rpartition(".")[0]
    return is_own_name(name) or (bool(stem) and name.startswith((watched.index_file, f"{stem}.lock")))


def _add_index_event(kind: int, name: str, index_file: str, updater: str, changes: PendingChanges) -> None:
    """Add an event of the index folder: a cookie of ours, a deleted index, or an index that was written."""
    prefix = cookie_name(updater, 0)[:-1]
    if name.startswith(prefix) and name[len(prefix) :].isdecimal():
        changes.cookie = max(changes.cookie, int(name[len(prefix) :]))
    elif not index_file:
        return
    elif name == index_file:
        changes.everything |= kind == DELETED
        changes.index |= kind != DELETED
    # Whoever only reads an index makes and removes files beside it, this process too.
    elif name.startswith(index_file) and kind == MODIFIED and not name.endswith("-shm"):
        changes.index = True


def _add_tree_event(path: str, name: str, watched: WatchedFolders, changes: PendingChanges) -> None:
    """Add an event below the root: a folder means that everything may have changed, a file is one path."""
    relative = path[len(watched.root) + 1 :]
    if is_own_path(relative, _index_folder_inside(watched)):
        return
    if path in watched.folders or name in (INDEX_FOLDER, ".git") or _is_folder(path):
        changes.everything = changes.folders = True
    elif not _is_text(relative):
        changes.everything = True  # only a walk can tell of it
    elif not _EDITOR_FILE.fullmatch(name):
        changes.paths.add(relative)


def _index_folder_inside(watched: WatchedFolders) -> str:
    """Return the index folder relative to the root; empty if it is elsewhere."""
    if watched.index_folder == watched.root:
        return "."
    inside = watched.index_folder.startswith(f"{watched.root}/")
    return watched.index_folder[len(watched.root) + 1 :] if inside else ""


def _path_inside(folders: tuple[str, ...], path: str) -> str | None:
    """Return `path` relative to the first of the folders that contains it; None if none does."""
    return next((path[len(folder) + 1 :] for folder in folders if path.startswith(f"{folder}/")), None)


def _is_text(path: str) -> bool:
    """Return whether the bytes of a path are text, so that a request can name it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
