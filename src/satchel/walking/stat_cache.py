"""Find out what changed in a tree since the last walk, with one look at each path. Only folders that
changed are listed, and git is not asked.

A folder whose change time is the same holds the same names, and an ignore file the same patterns; a file with
the same size, times and file number counts as unchanged, as everywhere in Satchel. In a git work tree every
file that git lists counts, also those that Satchel leaves out, and so does whatever else decides git's answer
(`git_inputs`). Checking this takes a third of the time of a walk, in git a sixth. `stamp_filter` tells which
of many paths need a look.

Not every file system updates the change time of folders (some that stand for a remote store do not). The
change time is therefore trusted only if writing the cache file itself was seen to change it, by the clock of
this machine.
"""

from __future__ import annotations

import os
import stat
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from satchel.errors import SatchelError
from satchel.types import SkipReason, Walk
from satchel.walking.own_output import is_own_name
from satchel.walking.paths import SIGNED, open_inside, os_path
from satchel.walking.stamp_filter import FILE_NUMBER, SIZE, find_suspects

VERSION = 2  # counts up whenever another version would read a cache file wrongly
_CHANGE_TIMES = os.name != "nt"  # Windows reports the time of creation under that name
_RACY_NS = 2_000_000_000  # a path that changed so late may change again within one tick of the clock
_FINE_RACY_NS = 100_000_000  # the same for a stamp of a fine clock, whose ticks take 16 ms at most
_COARSE_NS = 10_000_000  # clocks of 10 ms, 1 s and 2 s give only multiples of this
_ABSENT, _FOLDER, _IN_DOUBT = -1, -2, -3  # in place of a change time; what is in doubt counts as changed
_MOST_CHANGED = 64  # paths; for more of them a walk is as cheap
RULE_NAMES = frozenset({".gitignore", ".gitattributes", ".ignore", ".satchelignore"})
_DECISIVE_NAMES = frozenset(name.encode() for name in (*RULE_NAMES, ".git"))

_Stamp = tuple[int, int, int]
_NOTHING: _Stamp = (_ABSENT, 0, 0)
_DOUBTFUL: _Stamp = (_IN_DOUBT, 0, 0)


class StatCache(msgspec.Struct, frozen=True, array_like=True):
    """The stamps of everything that a walk depended on. Each path ends with NUL, which no path contains. A
    folder has two stamps, a file three."""

    key: bytes  # identifies the index, the root and the options; stamps under another key prove nothing
    watermark: dict[str, Any]  # of the tree at that walk
    folders: bytes  # the listed folders and the ignore files in them
    folder_stamps: bytes  # change time, file number
    files: bytes
    file_stamps: bytes  # change time (which a new modification time changes too), size, file number
    # An index folder changes whenever Satchel writes, so the user's files in it are compared by name.
    index_folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    git_program: str = ""  # empty for a walk without git
    outside: bytes = b""  # the absolute paths of what else decides git's answer
    outside_stamps: bytes = b""  # three of each, of which the first is `_ABSENT` if it does not exist
    others: bytes = b""  # what else was in the listed folders; the name of a folder ends with a slash
    git_answers: bytes = b""  # what git said of the tree, as `watermark` encodes it


class WalkInputs(msgspec.Struct, frozen=True):
    """What a walk depended on, besides the files that it found."""

    folders: list[str]  # those listed, and the ignore files in them
    index_folders: dict[str, set[str]]  # with the names in them that are not ours
    further_files: list[str]  # paths whose size or presence counts, although they do not belong
    watermark: dict[str, Any]
    others: Sequence[
        str
    ] = ()  # names in the listed folders, some of which belong; a folder ends with a slash
    git_program: str = ""
    outside: Sequence[str] = ()
    git_answers: bytes = b""


class Changes(msgspec.Struct, frozen=True):
    """The paths that a walk now may find otherwise than the walk of a cache did, and the folders that have
    other stamps. Each has the stamp that it has now."""

    files: Mapping[bytes, _Stamp]
    folders: Mapping[bytes, tuple[int, int]]


def capture(root: Path, key: bytes, walk: Walk, inputs: WalkInputs, walked_ns: int) -> StatCache | None:
    """Return the stamps of a walk that began at `walked_ns`. A file or folder that changed since then or just
    before is in doubt. None means that the stamps would prove nothing: many are in doubt, what decides git's
    answer is, something could not be read, or is on another file system than the root."""
    if not _CHANGE_TIMES or any(item.reason is SkipReason.UNREADABLE for item in walk.skipped):
        return None
    folder_paths = [path.encode("utf-8", "surrogateescape") for path in inputs.folders]
    file_stamps = array("q")
    for entry in walk.files:
        settled = _is_settled(max(entry.mtime_ns, entry.ctime_ns), walked_ns)
        file_stamps.extend((entry.ctime_ns, entry.size, entry.inode) if settled else _DOUBTFUL)
    try:
        folder_stamps = _folder_stamps(root, folder_paths, walked_ns)
        for path in inputs.further_files:
            stamp = _lstat_stamp(os_path(root, path))
            file_stamps.extend(stamp if _is_settled(stamp[0], walked_ns) else _DOUBTFUL)
        outside_stamps = array("q", _settled_stamps(map(_outside_stamp, inputs.outside), walked_ns))
    except (OSError, ValueError, _Unreliable):
        return None
    if file_stamps[::3].count(_IN_DOUBT) + folder_stamps[::2].count(_IN_DOUBT) > _MOST_CHANGED // 2:
        return None
    file_paths = [*(entry.path for entry in walk.files), *inputs.further_files]
    known = {*file_paths, *inputs.folders}
    others = [path for path in inputs.others if path.removesuffix("/") not in known]
    return StatCache(
        key,
        inputs.watermark,
        b"".join(path + b"\0" for path in folder_paths),
        folder_stamps.tobytes(),
        _joined(file_paths),
        file_stamps.tobytes(),
        tuple((folder, tuple(sorted(names))) for folder, names in sorted(inputs.index_folders.items())),
        inputs.git_program,
        b"".join(os.fsencode(path) + b"\0" for path in inputs.outside),
        outside_stamps.tobytes(),
        _joined(others),
        inputs.git_answers,
    )


def _joined(paths: Iterable[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")


class _Unreliable(Exception):
    """What decides git's answer changed so late that another change could go unnoticed, or something is on
    another file system than the root."""


def _is_settled(stamp_ns: int, walked_ns: int) -> bool:
    """Return whether any change after the walk began would have given another stamp."""
    return stamp_ns < walked_ns - (_FINE_RACY_NS if stamp_ns % _COARSE_NS else _RACY_NS)


def _folder_stamps(root: Path, folders: Sequence[bytes], walked_ns: int) -> array[int]:
    """Return the stamps of folders and ignore files."""
    base = os_path(root, "") + b"/"
    device = os.stat(base).st_dev
    stamps = array("q")
    for path in folders:
        status = os.lstat(base + path)
        elsewhere = stat.S_ISDIR(status.st_mode) and status.st_dev != device
        if elsewhere:
            raise _Unreliable
        settled = _is_settled(status.st_ctime_ns, walked_ns)
        stamps.extend((status.st_ctime_ns if settled else _IN_DOUBT, status.st_ino & SIGNED))
    return stamps


def _settled_stamps(stamps: Iterable[_Stamp], walked_ns: int) -> Iterator[int]:
    """Yield the numbers of all stamps, the change time first in each."""
    for stamp in stamps:
        if not _is_settled(stamp[0], walked_ns):
            raise _Unreliable
        yield from stamp


def _lstat_stamp(path: bytes, folder: int | None = None) -> _Stamp:
    """Return change time, size and file number of a path, which may be one that does not exist."""
    try:
        status = os.lstat(path, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return _NOTHING
    return status.st_ctime_ns, status.st_size, status.st_ino & SIGNED


def _outside_stamp(path: str | bytes) -> _Stamp:
    """Return the stamp of a path that git opens. Of a folder only owner and identity count: its change time
    moves with every file that git writes into it."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _NOTHING
    if stat.S_ISDIR(status.st_mode):
        return _FOLDER, status.st_uid, status.st_ino & SIGNED
    return status.st_ctime_ns, status.st_size, status.st_ino & SIGNED


def find_changes(root: Path, cached: StatCache, only: Sequence[bytes] | None = None) -> Changes | None:
    """Return what a walk now may find otherwise than the walk of the cache did; None if that may be anything:
    more changed than a few files, or the cache is malformed. A caller who knows that nothing below the root
    changed but some files has `only` these looked at."""
    try:
        # Paths are looked up relative to this folder, which is faster.
        folder = os.open(os_path(root, ""), os.O_RDONLY)
    except OSError:
        return None
    try:
        if any(_others_in(root / path) != names for path, names in cached.index_folders):
            return None
        outside = _paths(cached.outside)
        outside_stamps = zip(*_columns(cached.outside_stamps, 3, len(outside)), strict=True)
        for path, stamp in zip(outside, outside_stamps, strict=True):
            if _outside_stamp(path) != stamp:
                return None
        if only is not None:
            return _changes_among(only, cached, folder)
        folders = _changed_folders(cached, folder)
        files = _changed_files(cached, folder)
        files |= {path: _lstat_stamp(path, folder) for path in _unknown_names(cached, folder, folders)}
    # A folder is gone or cannot be listed, or the cache file is malformed.
    except (OSError, ValueError, _Unreliable):
        return None
    finally:
        os.close(folder)
    return Changes(files, folders) if len(files) <= _MOST_CHANGED else None


def _changes_among(paths: Sequence[bytes], cached: StatCache, root: int) -> Changes | None:
    """Return what became of some files. Equal stamps prove nothing here, because the caller knows better."""
    if len(paths) > _MOST_CHANGED or any(path.rpartition(b"/")[2] in _DECISIVE_NAMES for path in paths):
        return None
    known = b"\0" + cached.files
    stamps = {path: _lstat_stamp(path, root) for path in paths}
    if any(stamp != _NOTHING and _is_folder(path, root) for path, stamp in stamps.items()):
        return None
    # What came and went between two looks, as files that editors write beside their own do, is no change.
    came_or_was = {
        path: stamp for path, stamp in stamps.items() if stamp != _NOTHING or b"\0%b\0" % path in known
    }
    return Changes(came_or_was, {})


def _is_folder(path: bytes, root: int) -> bool:
    return stat.S_ISDIR(os.lstat(path, dir_fd=root).st_mode)


def _changed_folders(cached: StatCache, root: int) -> dict[bytes, tuple[int, int]]:
    """Return the listed folders that have another change time, with their stamps. An ignore file that has one
    is raised, and so is what took the place of a folder."""
    found: dict[bytes, tuple[int, int]] = {}
    paths = _paths(cached.folders)
    changed_ns, numbers = _columns(cached.folder_stamps, 2, len(paths))
    named = [path or b"." for path in paths]
    for place in find_suspects(root, named, changed_ns, {FILE_NUMBER: numbers}):
        status = os.lstat(named[place], dir_fd=root)
        if status.st_ctime_ns != changed_ns[place] or status.st_ino & SIGNED != numbers[place]:
            if status.st_ino & SIGNED != numbers[place] or not stat.S_ISDIR(status.st_mode):
                raise _Unreliable
            found[paths[place]] = (status.st_ctime_ns, numbers[place])
    return found


def _changed_files(cached: StatCache, root: int) -> dict[bytes, _Stamp]:
    """Return the files that have other stamps or are gone, with their stamps."""
    found: dict[bytes, _Stamp] = {}
    paths = _paths(cached.files)
    changed_ns, sizes, numbers = _columns(cached.file_stamps, 3, len(paths))
    for place in find_suspects(root, paths, changed_ns, {SIZE: sizes, FILE_NUMBER: numbers}):
        kept = (changed_ns[place], sizes[place], numbers[place])
        stamp = _lstat_stamp(paths[place], root)
        if stamp != (_NOTHING if kept[0] == _ABSENT else kept):
            found[paths[place]] = stamp
    return found


def _unknown_names(cached: StatCache, root: int, folders: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the paths in some folders that a walk has to look at: those that are new, left out or gone. A
    folder that is new or gone is raised, and so is a new ignore file."""
    if not folders:
        return
    listed, files, others = (set(_paths(part)) for part in (cached.folders, cached.files, cached.others))
    listed.update(os.fsencode(name) for name, _ in cached.index_folders)
    for folder in folders:
        prefix = folder + b"/" if folder else b""
        missing = {path for path in others if path.rstrip(b"/").rpartition(b"/")[0] == folder}
        for name, is_folder in _entries_of(folder, root):
            path = prefix + name
            missing -= {path, path + b"/"}
            if path in listed or (path + b"/" in others and is_folder):
                continue
            if is_folder or name in _DECISIVE_NAMES:
                raise _Unreliable
            if path not in files:
                yield path
        if any(path.endswith(b"/") for path in missing):
            raise _Unreliable
        yield from missing


def _entries_of(folder: bytes, root: int) -> list[tuple[bytes, bool]]:
    """Return the names in a folder, each with whether it is a folder."""
    opened = os.open(folder or b".", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=root)
    try:
        with os.scandir(opened) as entries:
            return [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(opened)


def were_there(cached: StatCache, changes: Changes, paths: Set[bytes]) -> bool:
    """Return whether all of some changed files were there at the walk of the cache, and still are."""
    files = zip(_paths(cached.files), array("q", cached.file_stamps)[::3], strict=True)
    before = {path for path, changed_ns in files if changed_ns != _ABSENT}
    return paths <= before and all(changes.files[path] != _NOTHING for path in paths)


def with_changes(cached: StatCache, changes: Changes, since_ns: int, ignored: Set[bytes]) -> StatCache:
    """Return the stamps of a cache with those of what changed, which was looked at from `since_ns` on. Those
    of the new paths that are `ignored` count only as names. What changed so late that it may have changed
    again without another stamp is in doubt, and counts as changed the next time."""
    folder_stamps, file_stamps = array("q", cached.folder_stamps), array("q", cached.file_stamps)
    if changes.folders:
        for number, path in enumerate(_paths(cached.folders)):
            if path in changes.folders:
                changed_ns = changes.folders[path][0]
                folder_stamps[2 * number] = changed_ns if _is_settled(changed_ns, since_ns) else _IN_DOUBT
    new = {
        path: stamp if _is_settled(stamp[0], since_ns) else _DOUBTFUL
        for path, stamp in changes.files.items()
        if path not in ignored
    }
    for number, path in enumerate(_paths(cached.files)):
        if path in new:
            file_stamps[3 * number : 3 * number + 3] = array("q", new.pop(path))
    for stamp in new.values():
        file_stamps.extend(stamp)
    return msgspec.structs.replace(
        cached,
        folder_stamps=folder_stamps.tobytes(),
        files=cached.files + b"".join(path + b"\0" for path in new),
        file_stamps=file_stamps.tobytes(),
        others=cached.others + b"".join(path + b"\0" for path in ignored - set(_paths(cached.others))),
    )


def _others_in(folder: Path) -> tuple[str, ...]:
    """Return the names in an index folder that are not ours."""
    if folder.is_symlink():
        raise NotADirectoryError(folder)
    return tuple(sorted(name for name in os.listdir(folder) if not is_own_name(name)))


def _paths(joined: bytes) -> list[bytes]:
    return joined.split(b"\0")[:-1]


def _columns(stamps: bytes, width: int, count: int) -> list[array[int]]:
    """Return the numbers of `count` stamps, each column for itself. Fewer or more of them are raised."""
    numbers = array("q", stamps)
    if len(numbers) != width * count:
        raise ValueError(f"{len(numbers)} numbers of {count} stamps")
    return [numbers[column::width] for column in range(width)]


def save(file: Path, cached: StatCache, root: Path, *, again: bool = False) -> None:
    """Write a cache file. It only saves time, so a folder that cannot be written is not an error. One that is
    written `again` follows one that was seen to change the time of its folder: where the index was written
    within the same tick of the clock, this one may leave it as it was."""
    new = file.with_name(f"{file.name}.{os.getpid()}.part")
    with suppress(OSError):
        before = os.stat(file.parent)
        if before.st_dev != os.stat(root).st_dev:
            return  # the test below would say nothing about the file system of the root
        started_ns = time.time_ns()
        try:
            # "x" refuses to follow a link that someone put there.
            with open(new, "xb") as stream:
                stream.write(msgspec.msgpack.encode(cached))
            changed_ns = os.stat(file.parent).st_ctime_ns
            just_now = not _is_settled(changed_ns, started_ns) and changed_ns <= time.time_ns()
            if just_now and (again or changed_ns != before.st_ctime_ns):
                os.replace(new, file)
        finally:
            new.unlink(missing_ok=True)


def load(file: Path, key: bytes) -> StatCache | None:
    """Return the stamps that were saved under this key, None if there are none."""
    try:
        cached = msgspec.msgpack.decode(open_inside(file.parent, file.name), type=StatCache)
    except (SatchelError, msgspec.MsgspecError):
        return None
    return cached if cached.key == key else None
