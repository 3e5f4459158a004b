"""Is the tree still as a walk found it? Asked of what the walk rested on, without listing any folder.

A folder whose change time is the same holds the same names, and an ignore file the same patterns; a
file of the same size, times and number counts as unchanged, here as everywhere. So one `lstat`
each tells that a walk would find nothing new, in a third of the time of the walk. Not every file system
keeps the change time of folders (some that stand for a remote store do not): it is trusted only where
writing the cached itself was seen to change it, by the clock that this machine goes by.
"""

from __future__ import annotations

import os
import stat
import time
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from satchel.errors import SatchelError
from satchel.types import SkipReason, Walk
from satchel.walking.paths import SIGNED, open_inside, os_path

_CHANGE_TIMES = os.name != "nt"  # Windows gives the time of creation under that name
_RACY_NS = 2_000_000_000  # what changed this close to its listing may change again in the same tick
_FINE_RACY_NS = 100_000_000  # the same for a stamp that shows a fine clock, whose ticks take 16 ms at most
_COARSE_NS = 10_000_000  # clocks of 10 ms, 1 s and 2 s give only multiples of this


class StatCache(msgspec.Struct, frozen=True, array_like=True):
    """What a walk rested on. Each path ends with NUL, which none holds, and has two stamps,
    that of a file three."""

    key: bytes  # of which index, root and options; another key proves nothing
    places: bytes  # the folders that were listed and the ignore files in them
    place_stamps: bytes  # change time, file number
    files: bytes
    file_stamps: bytes  # change time, which a change of the modification time changes too; size; file number


def capture(root: Path, key: bytes, walk: Walk, places: Iterable[str], walked_ns: int) -> StatCache | None:
    """The cached of a walk that began at `walked_ns`; None if it would prove nothing: something changed
    since then or just before, could not be read, or is on another file system than the root."""
    if not _CHANGE_TIMES or any(item.reason is SkipReason.UNREADABLE for item in walk.skipped):
        return None
    if not all(_is_settled(max(entry.mtime_ns, entry.ctime_ns), walked_ns) for entry in walk.files):
        return None
    place_paths = [path.encode("utf-8", "surrogateescape") for path in places]
    too_large = [item.path for item in walk.skipped if item.reason is SkipReason.TOO_LARGE]
    file_stamps = array("q")
    for entry in walk.files:
        file_stamps.extend((entry.ctime_ns, entry.size, entry.inode))
    try:
        place_stamps = _stamps_of_places(root, place_paths, walked_ns)
        file_stamps.extend(_stamps_of_large(root, too_large, walked_ns))
    except (OSError, _ProvesNothing):
        return None
    files = "".join(f"{path}\0" for path in (*(entry.path for entry in walk.files), *too_large))
    return StatCache(
        key,
        b"".join(path + b"\0" for path in place_paths),
        place_stamps.tobytes(),
        files.encode("utf-8", "surrogateescape"),
        file_stamps.tobytes(),
    )


class _ProvesNothing(Exception):
    """Something changed so late that it may change again unseen, or is not where the root is."""


def _is_settled(stamp_ns: int, walked_ns: int) -> bool:
    """Whether a change after the walk began would have given another stamp."""
    return stamp_ns < walked_ns - (_FINE_RACY_NS if stamp_ns % _COARSE_NS else _RACY_NS)


def _stamps_of_places(root: Path, places: Sequence[bytes], walked_ns: int) -> array[int]:
    base = os_path(root, "") + b"/"
    device = os.stat(base).st_dev
    stamps = array("q")
    for place in places:
        status = os.lstat(base + place)
        elsewhere = stat.S_ISDIR(status.st_mode) and status.st_dev != device
        if elsewhere or not _is_settled(status.st_ctime_ns, walked_ns):
            raise _ProvesNothing
        stamps.extend((status.st_ctime_ns, status.st_ino & SIGNED))
    return stamps


def _stamps_of_large(root: Path, paths: Sequence[str], walked_ns: int) -> array[int]:
    """Of files over the cap: the walk reports their size, and nothing else of them."""
    stamps = array("q")
    for path in paths:
        status = os.lstat(os_path(root, path))
        if not _is_settled(max(status.st_mtime_ns, status.st_ctime_ns), walked_ns):
            raise _ProvesNothing
        stamps.extend((status.st_ctime_ns, status.st_size, status.st_ino & SIGNED))
    return stamps


def is_unchanged(root: Path, cached: StatCache) -> bool:
    """Whether a walk now would find what the walk of the cached found."""
    try:
        folder = os.open(os_path(root, ""), os.O_RDONLY)  # from here each path is shorter to follow
    except OSError:
        return False
    lstat = os.lstat
    try:
        numbers = array("q", cached.place_stamps)
        for path, changed_ns, number in zip(_paths(cached.places), *_columns(numbers, 2), strict=True):
            status = lstat(path or b".", dir_fd=folder)
            if status.st_ctime_ns != changed_ns or status.st_ino & SIGNED != number:
                return False
        numbers = array("q", cached.file_stamps)
        for path, changed_ns, size, number in zip(_paths(cached.files), *_columns(numbers, 3), strict=True):
            status = lstat(path, dir_fd=folder)
            if status.st_ctime_ns != changed_ns or status.st_size != size or status.st_ino & SIGNED != number:
                return False
    except (OSError, ValueError):  # gone; or a file that is none of ours
        return False
    finally:
        os.close(folder)
    return True


def _paths(joined: bytes) -> list[bytes]:
    return joined.split(b"\0")[:-1]


def _columns(numbers: array[int], width: int) -> list[array[int]]:
    return [numbers[column::width] for column in range(width)]


def save(file: Path, cached: StatCache, root: Path) -> None:
    """Write a cached. It only saves time: a folder that cannot be written is no reason to complain."""
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    with suppress(OSError):
        before = os.stat(file.parent)
        if before.st_dev != os.stat(root).st_dev:
            return  # nothing is known of the file system of the root
        started_ns = time.time_ns()
        try:
            with open(new, "xb") as stream:  # never through a link that lies there
                stream.write(msgspec.msgpack.encode(cached))
            changed_ns = os.stat(file.parent).st_ctime_ns
            just_now = not _is_settled(changed_ns, started_ns) and changed_ns <= time.time_ns()
            if just_now and changed_ns != before.st_ctime_ns:
                os.replace(new, file)
        finally:
            new.unlink(missing_ok=True)


def load(file: Path, key: bytes) -> StatCache | None:
    """The cached that was kept under this key, if there is one."""
    try:
        cached = msgspec.msgpack.decode(open_inside(file.parent, file.name), type=StatCache)
    except (SatchelError, msgspec.MsgspecError):
        return None
    return cached if cached.key == key else None
