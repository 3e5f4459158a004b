"""How is a file written in one step, and what is said where its disk or folder refuses?

A full disk is no defect: whoever asked can make room. What was there before is still there, whole.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from satchel.errors import ConfigError, InvalidRequest, SatchelError

_WRITE_ELSEWHERE = "or write elsewhere; what was there before is as it was"
# what a disk or folder says that cannot be written now, and what to do about it; some systems know fewer
_REFUSALS = {
    "ENOSPC": ("no space is left on its disk", "make room on that disk"),
    "EDQUOT": ("the disk quota is used up", "make room, or have the quota raised"),
    "EFBIG": ("it would be larger than a file may be here", "raise the limit of file sizes (ulimit -f)"),
    "EROFS": ("the file system is read-only", "make it writable"),
    "EACCES": ("permission denied", "see who owns it"),
    "EPERM": ("permission denied", "see who owns it"),
    "EIO": ("the disk reports an error", "look at the disk"),
}
_BY_NUMBER = {getattr(errno, name): told for name, told in _REFUSALS.items() if hasattr(errno, name)}


def replace_file(path: Path, data: bytes, *, what: str = "", elsewhere: str = "") -> None:
    """Write a file in one step, or raise a typed error that names it, or `what` it belongs to: a crash or a
    full disk leaves the old file, and nothing half-written beside it."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")  # two writers at once do not meet
    try:
        with open(partial, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise cannot_write(what or repr(str(path)), error, elsewhere) from error
    finally:
        with suppress(OSError):  # it is gone if all went well; the first error is the one to tell
            partial.unlink(missing_ok=True)


def cannot_write(what: str, error: OSError, elsewhere: str = "") -> SatchelError:
    """The error of what could not be written: its disk or folder refused, or its name cannot be a file's."""
    return disk_trouble(error, what, elsewhere) or InvalidRequest(
        f"{what} cannot be written: {error.strerror}", hint="name a file in a folder that is there"
    )


def disk_trouble(error: OSError, what: str = "", elsewhere: str = "") -> ConfigError | None:
    """The error of a disk or folder that refuses, wherever it was met; None for any other. `elsewhere` says
    how to use another."""
    number = error.errno
    if number is None or number not in _BY_NUMBER:
        return None
    reason, remedy = _BY_NUMBER[number]
    named = repr(str(error.filename)) if error.filename else "a file"
    return ConfigError(
        f"{what or named} cannot be written: {reason}",
        hint=f"{remedy}, {elsewhere or _WRITE_ELSEWHERE}",
        details={"reason": errno.errorcode[number]},
    )
