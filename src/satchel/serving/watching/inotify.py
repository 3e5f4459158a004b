"""Receive the events of folders on Linux, as the system hands them out.

This stands in the place of watchfiles on Linux. watchfiles looks for events in steps of 10 ms: an event takes
11 to 21 ms to arrive, which was most of the time of a search over HTTP, and the hundred looks a second cost
5 % of a core while nothing happens (measured; here 0.2 ms and no CPU). It also drops file names that are not
text and says nothing when the queue of the system overflows. It can come back when it waits for the system.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress

ADDED, MODIFIED, DELETED = 1, 2, 3  # the numbers that watchfiles gives the kinds of events

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS = 0x1000000, 0x2000000
_WANTED = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
)
_HEADER = struct.Struct("iIII")  # watch, kinds, cookie of a move, length of the name
_READ_BYTES = 1 << 16  # about a thousand events
_STOP_MS = 50  # a stop is noticed as soon
# Folders that cannot be watched and need not: gone since they were listed, or closed to this user.
_PASSED_OVER = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP)

_Event = tuple[int, str]
"""The kind of an event and the path that it is about."""


class InotifyWatcher:
    """Receives the events of some folders, not of the folders in them, until it is closed. OSError is raised
    if one of them cannot be watched, or if events were lost."""

    def __init__(
        self, folders: Iterable[str], is_urgent: Callable[[str], bool], quiet: Container[str] = ()
    ) -> None:
        """Watch the folders. A batch ends at once with an event whose file name `is_urgent`. Of folders that
        are `quiet` nothing is told that leaves names and contents as they are: opening a database to read it
        sets the owner of files beside it."""
        self._is_urgent = is_urgent
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _last_error()
        self._folders: dict[int, str] = {}  # by the number of their watch
        try:
            for folder in folders:
                wanted = _WANTED & ~(_ATTRIB | _CLOSE_WRITE) if folder in quiet else _WANTED
                mask = wanted | _ONLY_FOLDERS | _NO_LINKS
                number = libc.inotify_add_watch(self._descriptor, os.fsencode(folder), ctypes.c_uint32(mask))
                if number >= 0:
                    self._folders[number] = folder
                elif ctypes.get_errno() not in _PASSED_OVER:
                    raise _last_error()
        except OSError:
            self.close()
            raise
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def wait(self, milliseconds: int, quiet_ms: int, most_ms: int, stop: threading.Event) -> set[_Event]:
        """Return the next batch of events; an empty set after `milliseconds` or a stop. A batch ends after
        `quiet_ms` without events, after `most_ms` at the latest, or with an urgent event."""
        end = time.monotonic() + milliseconds / 1000
        while not self._poll.poll(min(_STOP_MS, _milliseconds_until(end))):
            if stop.is_set() or time.monotonic() >= end:
                return set()
        found: set[_Event] = set()
        end = time.monotonic() + most_ms / 1000
        while True:
            urgent = False
            for kind, path, name in self._read():
                found.add((kind, path))
                urgent |= self._is_urgent(name)
            if urgent or time.monotonic() >= end or not self._poll.poll(quiet_ms):
                return found

    def _read(self) -> Iterator[tuple[int, str, str]]:
        """Yield kind, path and file name of the events that have arrived."""
        try:
            data = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        position = 0
        while position < len(data):
            watch, kinds, _, length = _HEADER.unpack_from(data, position)
            start = position + _HEADER.size
            position = start + length
            if kinds & _OVERFLOW:
                raise OSError(errno.EOVERFLOW, "events were lost")
            folder = self._folders.get(watch)
            if folder is not None and not kinds & _IGNORED:
                name = os.fsdecode(data[start:position].rstrip(b"\0"))
                yield _kind(kinds), f"{folder}/{name}" if name else folder, name

    def close(self) -> None:
        """Stop watching and free the watches."""
        with suppress(OSError):
            os.close(self._descriptor)


def is_supported() -> bool:
    """Return whether this system has such events."""
    return hasattr(select, "poll") and hasattr(ctypes.CDLL(None), "inotify_init1")


def _kind(kinds: int) -> int:
    if kinds & (_DELETE | _MOVED_FROM | _DELETE_SELF | _MOVE_SELF):
        return DELETED
    return ADDED if kinds & (_CREATE | _MOVED_TO) else MODIFIED


def _milliseconds_until(end: float) -> int:
    return max(0, round((end - time.monotonic()) * 1000))


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
