"""Check that a path is inside the root, and read it without being led out of the root.

A symlink at any component is refused, also one that appears between listing and reading: each folder is
opened relative to the one above it, so it cannot be swapped in between. On a platform without such calls
(Windows), the real path is compared before and after the file is opened.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from pathlib import Path

from satchel.errors import FileNotFound, PathNotAllowed, SatchelError

SIGNED = (1 << 63) - 1  # file numbers have 64 bits, of which 63 are kept
_DRIVE = re.compile(r"[A-Za-z]:")
_HAS_DIR_FD = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not block
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_FOLDER_FLAGS = _FILE_FLAGS | getattr(os, "O_DIRECTORY", 0)
_PIECE_BYTES = 4096  # bytes per read after the expected size
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK}  # the error of O_NOFOLLOW on Linux and macOS, and on FreeBSD


def check_relative(path: str) -> str:
    """Return the path in POSIX spelling, relative to the root. PathNotAllowed is raised if it could lead
    anywhere else."""
    if "\0" in path:
        raise PathNotAllowed("a path holds a NUL byte", details={"path": path.replace("\0", "\\0")})
    posix = path.replace("\\", "/")
    if posix.startswith("/") or _DRIVE.match(posix):
        raise PathNotAllowed(f"{path!r} is not relative to the root", details={"path": path})
    parts: list[str] = []
    for part in posix.split("/"):
        if part == "..":
            if not parts:
                raise PathNotAllowed(f"{path!r} leaves the root", details={"path": path})
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def os_path(root: Path, relative: str) -> bytes:
    """Return the path as the system calls take it: as UTF-8, whatever the locale is."""
    base = str(root).encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
    return b"%b/%b" % (base, relative.encode("utf-8", "surrogateescape")) if relative else base


def open_inside(root: Path, relative: str, limit: int = -1) -> bytes:
    """Return the bytes of a regular file inside the root, at most `limit` of them unless it is negative."""
    safe = check_relative(relative)
    if not safe:
        raise PathNotAllowed("the root itself is not a file", details={"path": relative})
    try:
        descriptor = _open_by_folders(root, safe) if _HAS_DIR_FD else _open_by_path(root, safe)
    except OSError as error:
        raise _typed(safe, error) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PathNotAllowed(f"{safe!r} is not a regular file", details={"path": safe})
        return _read(descriptor, limit, status.st_size + 1)
    except OSError as error:
        raise _typed(safe, error) from error
    finally:
        os.close(descriptor)


def _open_by_folders(root: Path, safe: str) -> int:
    """Return a descriptor of a file, opened folder by folder without following a link."""
    *folders, name = safe.encode("utf-8", "surrogateescape").split(b"/")
    # The root itself may be reached through a link.
    folder = os.open(root, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for part in folders:
            below = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(name, _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _open_by_path(root: Path, safe: str) -> int:
    """Return a descriptor of a file on a platform without `dir_fd`. The file that was checked and the file
    that was opened must be the same."""
    full = os_path(root, safe)
    _check_no_links(root, safe)
    before = os.lstat(full)
    descriptor = os.open(full, _FILE_FLAGS)
    try:
        after = os.fstat(descriptor)
        if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
            raise PathNotAllowed(f"{safe!r} changed while it was opened", details={"path": safe})
        _check_no_links(root, safe)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_no_links(root: Path, safe: str) -> None:
    """Raise PathNotAllowed if a path leads through a link."""
    wanted = os.path.join(os.path.realpath(os.fsencode(root)), *os.fsencode(safe).split(b"/"))
    if os.path.normcase(os.path.realpath(wanted)) != os.path.normcase(wanted):
        raise PathNotAllowed(f"{safe!r} leads through a link", details={"path": safe})


def _read(descriptor: int, limit: int, expected: int) -> bytes:
    """Return the bytes of an open file up to `limit`. `expected` is its size plus one, so that one call
    usually suffices."""
    pieces: list[bytes] = []
    left = limit if limit >= 0 else sys.maxsize
    while left > 0:
        piece = os.read(descriptor, min(left, max(expected, _PIECE_BYTES)))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
        expected -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _typed(path: str, error: OSError) -> SatchelError:
    """Return the typed error for an OSError."""
    details = {"path": path, "reason": error.strerror or str(error)}
    if error.errno in _LINK_ERRORS:
        return PathNotAllowed(f"{path!r} is a symlink", details=details)
    if error.errno == errno.ENOENT:
        return FileNotFound(f"{path!r} does not exist", details=details)
    # Linux also reports this for a folder that became a symlink.
    if error.errno == errno.ENOTDIR:
        return PathNotAllowed(f"{path!r} leads through something that is no folder", details=details)
    return FileNotFound(f"{path!r} cannot be read: {details['reason']}", details=details)
